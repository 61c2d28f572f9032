import FenceFiles
import GeoPackageFile
import TrackStore

/// The districts of a store, which all its services have, also while a server runs on the same store.
package struct DistrictAdministration: Sendable {
    private let store: any TrackStore
    private let acts: AuditLog

    /// Opens the store of a configuration; it must exist.
    package init(_ configuration: ServerConfiguration) async throws(ServerError) {
        self.init(store: try await StoreFactory.openForCommand(configuration.store).store)
    }

    init(store: any TrackStore, acts: AuditLog = AuditLog()) {
        self.store = store
        self.acts = acts
    }

    /// What an import has done, or would do.
    package struct Outcome: Hashable, Sendable {
        package let source: String
        package let imported: Int
        /// Districts of the source that were there before.
        package let replaced: Int
        /// Features that are no districts, with their reasons.
        package let refusals: [String]
    }

    /// A district with the names of all its parents.
    package struct Listing: Hashable, Sendable {
        package let id: Int64
        package let source: String
        package let fullName: String
    }

    /// Puts the districts of some files in the place of all of a source; when none can be taken, the source stays as it is.
    ///
    /// `source` nil: the name of the first file without its directory and its ending. `isTrial`: nothing is stored.
    package func importFiles(
        _ paths: [String], _ properties: DistrictProperties, source: String?, isTrial: Bool
    ) async throws(ServerError) -> Outcome {
        let source = try Self.checked(source ?? Self.source(of: paths.first ?? ""))
        let read = try DistrictFiles.read(paths, properties)
        let refusals = read.refusals.map(\.description)
        guard !read.districts.isEmpty else {
            let first = refusals.first.map { ": \($0)" } ?? ""
            throw ServerError(
                .file, "no feature of \(paths.joined(separator: ", ")) can be a district\(first); nothing is changed")
        }
        let districts = read.districts.map { NewDistrict(name: $0.name, parent: $0.parent, shape: $0.shape) }
        let replaced = try await entries().count { $0.source == source }
        if !isTrial {
            try await replace(source, with: districts)
            acts.note(.districtImport, in: nil, about: "\(source) (\(districts.count) districts)")
        }
        return Outcome(source: source, imported: districts.count, replaced: replaced, refusals: refusals)
    }

    /// Deletes all districts of a source; returns how many there were.
    package func remove(_ source: String) async throws(ServerError) -> Int {
        let entries = try await entries()
        let count = entries.count { $0.source == source }
        guard count > 0 else {
            let sources = Set(entries.map(\.source)).sorted().joined(separator: ", ")
            throw ServerError(
                .notFound,
                "no district is of the source '\(source)': "
                    + (sources.isEmpty ? "there are no districts" : "the sources are \(sources)"))
        }
        try await replace(source, with: [])
        acts.note(.districtRemove, in: nil, about: "\(source) (\(count) districts)")
        return count
    }

    /// In the order of their numbers. `source`: only those of it. `keyword`: only what the Web API would find by it, which
    /// are several districts when the keyword is ambiguous.
    package func list(source: String?, keyword: String?) async throws(ServerError) -> [Listing] {
        let entries = try await entries()
        var places: [Int64: Int] = [:]
        for (place, entry) in entries.enumerated() { places[entry.id] = place }
        let names = DistrictNames(
            entries.map { entry in
                DistrictNames.Entry(name: entry.name, parent: entry.parent.flatMap { places[$0] })
            })
        var listings = zip(entries.indices, entries).map { place, entry in
            Listing(id: entry.id, source: entry.source, fullName: names.fullName(of: place))
        }
        if let keyword {
            switch names.resolve(keyword) {
            case .found(let place): listings = [listings[place]]
            case .ambiguous(let found):
                let found = Set(found)
                listings.removeAll { !found.contains($0.fullName) }
            case .unknown: throw ServerError(.notFound, "no district is found by '\(keyword)'")
            }
        }
        return listings.filter { source == nil || $0.source == source }
    }

    private func entries() async throws(ServerError) -> [DistrictEntry] {
        do throws(TrackStoreError) {
            return try await store.districts(unless: nil).entries ?? []
        } catch {
            throw ServerError(error)
        }
    }

    private func replace(_ source: String, with districts: [NewDistrict]) async throws(ServerError) {
        do throws(TrackStoreError) {
            try await store.replaceDistricts(of: source, with: districts)
        } catch {
            throw ServerError(error)
        }
    }

    private static func source(of path: String) -> String {
        let file = path.split(separator: "/").last ?? ""
        guard let dot = file.lastIndex(of: "."), dot > file.startIndex else { return String(file) }
        return String(file[..<dot])
    }

    private static func checked(_ source: String) throws(ServerError) -> String {
        let hasControl = source.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
        guard (1...128).contains(source.utf8.count), !hasControl else {
            throw ServerError(
                .usage,
                "the source '\(source)' has \(source.utf8.count) bytes: it has 1 to 128 and no control characters")
        }
        return source
    }
}

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
