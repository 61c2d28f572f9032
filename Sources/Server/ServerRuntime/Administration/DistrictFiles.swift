import FenceFiles
import GeoPackageFile

/// The properties of features that tell about a district: one for all files, or one for each file.
package struct DistrictProperties: Hashable, Sendable {
    package var name: [String]
    /// Empty: every district is an outermost one.
    package var parent: [String]
    /// What a parent property holds instead of a name; empty: the features' own ids.
    package var id: [String]
    /// Layers of GeoPackages; an empty text for a file without layers, or with one.
    package var layer: [String]
    /// Conditions on the features, as ``WhereClause`` reads them; an empty text chooses all.
    package var condition: [String]

    package init(
        name: [String], parent: [String] = [], id: [String] = [], layer: [String] = [], condition: [String] = []
    ) {
        self.name = name
        self.parent = parent
        self.id = id
        self.layer = layer
        self.condition = condition
    }
}

/// Reads districts from files.
struct DistrictFiles {
    /// What one file is read by.
    private struct Columns {
        let name: String
        let parent: String?
        let id: String?
        let layer: String?
        let condition: WhereClause?
    }

    private let limits: FenceFileLimits
    private var importer = DistrictImport(nameColumn: "")
    private var vertices = 0

    private init(_ limits: FenceFileLimits) {
        self.limits = limits
    }

    /// Parents are in a file before, or in the same file.
    static func read(
        _ paths: [String], _ properties: DistrictProperties, limits: FenceFileLimits = FenceFileLimits()
    ) throws(ServerError) -> DistrictImport.Result {
        guard !paths.isEmpty else { throw ServerError(.usage, "name one GeoJSON or GeoPackage file or more") }
        let names = try spread(properties.name, "--name-property", over: paths.count)
        let parents = try spread(properties.parent, "--parent-property", over: paths.count)
        let ids = try spread(properties.id, "--id-property", over: paths.count)
        let layers = try spread(properties.layer, "--layer", over: paths.count)
        let conditions = try spread(properties.condition, "--where", over: paths.count)
        var files = Self(limits)
        for (index, path) in paths.enumerated() {
            guard let name = names[index] else { throw ServerError(.usage, "give --name-property") }
            let condition = try clause(conditions[index])
            let columns = Columns(
                name: name, parent: parents[index], id: ids[index],
                layer: layers[index].flatMap { $0.isEmpty ? nil : $0 },
                condition: condition)
            do throws(FenceFileError) {
                try files.read(path, columns)
            } catch {
                throw ServerError(.file, "\(path): \(error.description); nothing is changed")
            }
        }
        return files.importer.finished()
    }

    private static func spread(
        _ values: [String], _ option: String, over count: Int
    ) throws(ServerError) -> [String?] {
        switch values.count {
        case 0: return Array(repeating: nil, count: count)
        case 1: return Array(repeating: values[0], count: count)
        case count: return values
        default:
            throw ServerError(
                .usage,
                "\(option) is given \(values.count) times for \(count) files: give it once, or once for each file")
        }
    }

    private static func clause(_ text: String?) throws(ServerError) -> WhereClause? {
        guard let text, !text.isEmpty else { return nil }
        do throws(FenceFileError) {
            return try WhereClause(text)
        } catch {
            throw ServerError(.usage, "--where: \(error)")
        }
    }

    private mutating func read(_ path: String, _ columns: Columns) throws(FenceFileError) {
        var reader = try FeatureFile(path: path, layer: columns.layer, limits: limits)
        var known: Set<String> = []
        importer.begin(
            file: path, nameColumn: columns.name, parentColumn: columns.parent, idColumn: columns.id)
        while let outcome = try reader.next() {
            if case .feature(let feature) = outcome {
                // A bound for a file that has other properties in each feature.
                if known.count < 10_000 { known.formUnion(feature.properties.keys) }
                do throws(FenceFileError) {
                    if let condition = columns.condition, try condition.truth(of: feature.properties) != true {
                        continue
                    }
                } catch {
                    importer.add(
                        .refused(
                            RefusedFeature(number: feature.number, id: feature.id, reason: error.description)))
                    continue
                }
                vertices += feature.geometry.vertexCount
                guard vertices <= limits.vertices else {
                    throw FenceFileError(
                        "with the files before, it has more than \(limits.vertices) vertices: simplify the outlines, or"
                            + " import fewer districts")
                }
            }
            importer.add(outcome)
        }
        let hasFeatures = !known.isEmpty
        for column in columns.condition?.columns ?? [] where hasFeatures {
            guard !known.contains(where: { $0.lowercased() == column.name.lowercased() }) else { continue }
            throw FenceFileError(
                "no feature has the property '\(column.name)' of --where; they have \(Self.shown(known))")
        }
        for (option, column) in [
            ("--name-property", columns.name), ("--parent-property", columns.parent), ("--id-property", columns.id),
        ] {
            guard let column, hasFeatures else { continue }
            guard known.contains(where: { $0.lowercased() == column.lowercased() }) else {
                throw FenceFileError(
                    "no feature has the property '\(column)' of \(option); they have \(Self.shown(known))")
            }
        }
    }

    private static func shown(_ properties: Set<String>) -> String {
        properties.sorted().prefix(30).joined(separator: ", ")
    }
}
