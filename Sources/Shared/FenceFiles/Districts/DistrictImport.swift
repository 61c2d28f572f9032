package import Geodesy
internal import JSON

/// A district: its name, whose part it is, and its outline in WGS 84.
package struct District: Hashable, Sendable {
    package let name: String
    /// The number of the district in its list.
    package let parent: Int?
    package let shape: ShapeDraft
}

/// Makes districts of the features of a file.
package struct DistrictImport {
    package struct Result: Hashable, Sendable {
        package var districts: [District] = []
        package var refusals: [RefusedFeature] = []

        /// For looking them up.
        package var names: DistrictNames {
            DistrictNames(districts.map { DistrictNames.Entry(name: $0.name, parent: $0.parent) })
        }
    }

    private struct Candidate {
        let number: Int
        let id: String?
        let name: String
        let parent: String?
        let shape: ShapeDraft
    }

    private let nameColumn: String
    private let parentColumn: String?
    private let idColumn: String?
    private var candidates: [Candidate] = []
    private var refusals: [RefusedFeature] = []

    /// `parentColumn` holds the parent's name, or its value of `idColumn`, or its id in the file.
    package init(nameColumn: String, parentColumn: String? = nil, idColumn: String? = nil) {
        self.nameColumn = nameColumn
        self.parentColumn = parentColumn
        self.idColumn = idColumn
    }

    package mutating func add(_ outcome: FileFeature) {
        switch outcome {
        case .refused(let refused): refusals.append(refused)
        case .feature(let feature):
            do throws(FenceFileError) {
                candidates.append(try candidate(feature))
            } catch {
                refusals.append(RefusedFeature(number: feature.number, id: feature.id, reason: error.description))
            }
        }
    }

    private func candidate(_ feature: FenceFeature) throws(FenceFileError) -> Candidate {
        func text(_ column: String) throws(FenceFileError) -> String? {
            let name = try WhereClause.name(of: column, among: feature.properties)
            return name.flatMap { feature.properties[$0] }.flatMap(GeoJSONGeometry.text)
        }
        guard let name = try text(nameColumn), !DistrictForms.normal(name).isEmpty else {
            throw FenceFileError("it has no name in the column \(FenceFileError.quoted(nameColumn))")
        }
        guard name.utf8.count <= 128 else { throw FenceFileError("its name has \(name.utf8.count) bytes: at most 128") }
        var polygons: [[[Degrees]]] = []
        for part in feature.geometry.parts {
            guard case .polygon(let parts) = part else {
                throw FenceFileError("its geometry has points or lines: a district is made of polygons")
            }
            polygons += parts
        }
        let shape = ShapeDraft(.polygon(polygons))
        do throws(ShapeError) {
            _ = try shape.shape()
        } catch {
            throw FenceFileError(error.description)
        }
        let id = idColumn == nil ? feature.id : nil
        let key = try idColumn.map { (column) throws(FenceFileError) in try text(column) } ?? id
        var parent: String?
        if let parentColumn { parent = try text(parentColumn) }
        return Candidate(number: feature.number, id: key, name: name, parent: parent, shape: shape)
    }

    /// The districts whose parents are known, in the order of the file. One without a parent is an outermost one.
    package consuming func finished() -> Result {
        var result = Result(refusals: refusals)
        var byID: [String: [Int]] = [:]
        var byName: [String: [Int]] = [:]
        for (index, candidate) in candidates.enumerated() {
            if let id = candidate.id { byID[id, default: []].append(index) }
            byName[candidate.name, default: []].append(index)
        }
        var parents: [Int?] = []
        var reasons: [String?] = []
        for (index, candidate) in candidates.enumerated() {
            // A province of its own may name itself, or nothing.
            guard let parent = candidate.parent, parent != candidate.id else {
                parents.append(nil)
                reasons.append(nil)
                continue
            }
            let found = (byID[parent] ?? byName[parent] ?? []).filter { $0 != index }
            let isItself = found.isEmpty && parent == candidate.name
            parents.append(found.count == 1 ? found[0] : nil)
            reasons.append(
                isItself || found.count == 1
                    ? nil
                    : found.isEmpty
                        ? "no district is its parent \(FenceFileError.quoted(parent))"
                        : "\(found.count) districts may be its parent \(FenceFileError.quoted(parent)): name it by its id"
            )
        }
        refuseCircles(parents, &reasons)
        refuseOrphansAndDoubles(parents, &reasons)
        var numbers: [Int: Int] = [:]
        for index in candidates.indices where reasons[index] == nil { numbers[index] = numbers.count }
        for (index, candidate) in candidates.enumerated() {
            if let reason = reasons[index] {
                result.refusals.append(RefusedFeature(number: candidate.number, id: candidate.id, reason: reason))
            } else {
                let parent = parents[index].flatMap { numbers[$0] }
                result.districts.append(District(name: candidate.name, parent: parent, shape: candidate.shape))
            }
        }
        result.refusals.sort { $0.number < $1.number }
        return result
    }

    private func refuseCircles(_ parents: [Int?], _ reasons: inout [String?]) {
        for index in candidates.indices where reasons[index] == nil {
            var (next, steps) = (parents[index], 1)
            while let parent = next, steps <= DistrictNames.deepest { (next, steps) = (parents[parent], steps + 1) }
            guard next != nil else { continue }
            reasons[index] = "its parents are in a circle, or more than \(DistrictNames.deepest) levels deep"
        }
    }

    private func refuseOrphansAndDoubles(_ parents: [Int?], _ reasons: inout [String?]) {
        let refused = Set(candidates.indices.filter { reasons[$0] != nil })
        var seen: [String: Int] = [:]
        for index in candidates.indices where reasons[index] == nil {
            var path: [String] = []
            var next: Int? = index
            while let number = next {
                if refused.contains(number) {
                    reasons[index] = "its parent, feature \(candidates[number].number), is refused"
                }
                path.append(candidates[number].name)
                next = parents[number]
            }
            guard reasons[index] == nil else { continue }
            if let other = seen.updateValue(candidates[index].number, forKey: path.joined(separator: "\u{0}")) {
                reasons[index] = "feature \(other) is a district of the same name and parent"
            }
        }
    }
}
