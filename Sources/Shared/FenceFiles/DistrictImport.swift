package import Geodesy
internal import JSON

/// A district: its name, whose part it is, and its outline in WGS 84.
package struct District: Hashable, Sendable {
    package let name: String
    /// The number of the district in its list.
    package let parent: Int?
    package let shape: ShapeDraft
}

/// Makes districts of the features of a file, or of several files: the outermost districts first.
package struct DistrictImport {
    package struct Result: Hashable, Sendable {
        package var districts: [District] = []
        package var refusals: [RefusedFeature] = []

        /// For looking them up.
        package var names: DistrictNames {
            DistrictNames(districts.map { DistrictNames.Entry(name: $0.name, parent: $0.parent) })
        }
    }

    private var nameColumn: String
    private var parentColumn: String?
    private var idColumn: String?
    /// Nil: features were added before any file began.
    private var files: [String?] = [nil]
    private var added = 0
    private var candidates: [DistrictCandidate] = []
    private var refusals: [(order: Int, feature: RefusedFeature)] = []

    /// `parentColumn` holds the parent's name, or its value of `idColumn`, or its id in the file.
    package init(nameColumn: String, parentColumn: String? = nil, idColumn: String? = nil) {
        self.nameColumn = nameColumn
        self.parentColumn = parentColumn
        self.idColumn = idColumn
    }

    /// The features that follow are of another file, whose parents are in a file before, the nearest that has them, or in the
    /// file itself.
    package mutating func begin(
        file: String, nameColumn: String, parentColumn: String? = nil, idColumn: String? = nil
    ) {
        files.append(file)
        (self.nameColumn, self.parentColumn, self.idColumn) = (nameColumn, parentColumn, idColumn)
    }

    package mutating func add(_ outcome: FileFeature) {
        added += 1
        switch outcome {
        case .refused(let refused): refuse(refused, file: files.count - 1, order: added)
        case .feature(let feature):
            do throws(FenceFileError) {
                candidates.append(try candidate(feature))
            } catch {
                let refused = RefusedFeature(number: feature.number, id: feature.id, reason: error.description)
                refuse(refused, file: files.count - 1, order: added)
            }
        }
    }

    private mutating func refuse(_ feature: RefusedFeature, file: Int, order: Int) {
        var feature = feature
        feature.file = files[file]
        refusals.append((order, feature))
    }

    /// As a message about a feature of the file names it.
    private func text(_ other: DistrictCandidate, besides candidate: DistrictCandidate) -> String {
        let file = other.file == candidate.file ? nil : files[other.file]
        return "feature \(other.number)\(file.map { " of \($0)" } ?? "")"
    }

    private func candidate(_ feature: FenceFeature) throws(FenceFileError) -> DistrictCandidate {
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
        // Behind the first file, a parent that stands in the column of the ids says nothing about the district itself.
        let isFirst = files.count <= 2
        let namesItself = parent == name || parent == key && (isFirst || parentColumn != idColumn)
        return DistrictCandidate(
            order: added, file: files.count - 1, number: feature.number, id: key, name: name, parent: parent,
            namesItself: namesItself, shape: shape)
    }

    /// The districts whose parents are known, in the order of the file. One without a parent is an outermost one.
    package consuming func finished() -> Result {
        var result = Result()
        let lookup = DistrictParents(candidates)
        var parents: [Int?] = []
        var reasons: [String?] = []
        for (index, candidate) in candidates.enumerated() {
            guard let parent = candidate.parent else {
                parents.append(nil)
                reasons.append(nil)
                continue
            }
            let found = lookup.parents(of: candidate, at: index)
            let isItself = found.isEmpty && candidate.namesItself
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
                let refused = RefusedFeature(number: candidate.number, id: candidate.id, reason: reason)
                refuse(refused, file: candidate.file, order: candidate.order)
            } else {
                let parent = parents[index].flatMap { numbers[$0] }
                result.districts.append(District(name: candidate.name, parent: parent, shape: candidate.shape))
            }
        }
        result.refusals = refusals.sorted { $0.order < $1.order }.map(\.feature)
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
                    reasons[index] = "its parent, \(text(candidates[number], besides: candidates[index])), is refused"
                }
                path.append(candidates[number].name)
                next = parents[number]
            }
            guard reasons[index] == nil else { continue }
            if let other = seen.updateValue(index, forKey: path.joined(separator: "\u{0}")) {
                let other = text(candidates[other], besides: candidates[index])
                reasons[index] = "\(other) is a district of the same name and parent"
            }
        }
    }
}

/// A feature that may become a district, when its parent is found.
struct DistrictCandidate {
    /// Among all features that were added.
    let order: Int
    /// The place of its file among the files.
    let file: Int
    let number: Int
    let id: String?
    let name: String
    let parent: String?
    /// It is an outermost one when no other district is its parent.
    let namesItself: Bool
    let shape: ShapeDraft
}

/// Finds the candidates that a parent's name or id means.
struct DistrictParents {
    /// Numbers of candidates, for each file.
    private var byID: [Int: [String: [Int]]] = [:]
    private var byName: [Int: [String: [Int]]] = [:]

    init(_ candidates: [DistrictCandidate]) {
        for (index, candidate) in candidates.enumerated() {
            if let id = candidate.id { byID[candidate.file, default: [:]][id, default: []].append(index) }
            byName[candidate.file, default: [:]][candidate.name, default: []].append(index)
        }
    }

    /// In the nearest file before that has the parent, or else in the candidate's own.
    func parents(of candidate: DistrictCandidate, at index: Int) -> [Int] {
        guard let parent = candidate.parent else { return [] }
        for file in stride(from: candidate.file - 1, through: 0, by: -1) {
            let found = named(parent, in: file)
            if !found.isEmpty { return found }
        }
        // A province of its own may name itself.
        guard parent != candidate.id else { return [] }
        let own = named(parent, in: candidate.file)
        // More than two are too many, whether or not the candidate is one of them.
        return own.count > 2 ? own : own.filter { $0 != index }
    }

    private func named(_ parent: String, in file: Int) -> [Int] {
        byID[file]?[parent] ?? byName[file]?[parent] ?? []
    }
}
