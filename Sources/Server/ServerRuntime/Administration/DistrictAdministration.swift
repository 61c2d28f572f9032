import FenceFiles
import TrackStore

/// The districts of a store, which all its services have, also while a server runs on the same store.
package struct DistrictAdministration: Sendable {
    private let store: any TrackStore
    private let acts: ActJournal

    /// Opens the store of a configuration; it must exist.
    package init(_ configuration: ServerConfiguration) async throws(ServerError) {
        self.init(store: try await StoreFactory.openForCommand(configuration.store))
    }

    init(store: any TrackStore, acts: ActJournal = ActJournal()) {
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
