import Dispatch
import FoundationEssentials
package import Ingest
import Logging
import StoreRecords
package import TrackModel
package import TrackStore
import TrackStoreSQLite

/// A store for one test: SQLite, as a server has it, on a file of its own that goes with this object.
package final class TestStore: StoreDecorator {
    package var inner: any EngineStore { store }
    private let store: SQLiteTrackStore
    private let directory: String

    /// The file of a new store. Making the tables takes longer than many a test.
    private static let empty: Result<Data, any Error> = Result {
        let directory = try makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try open(in: directory).close()
        return try Data(contentsOf: URL(filePath: file(directory)))
    }

    /// Ends the process when there is no room for a file: then no test can go on.
    package init() {
        do {
            directory = try Self.makeDirectory()
            let file = Self.file(directory)
            try Self.empty.get().write(to: URL(filePath: file))
            store = try Self.open(in: directory)
        } catch {
            fatalError("no store for a test can be made: \(error)")
        }
    }

    deinit {
        // The work of a call holds this object, so the last reference may go on a queue of the store, which cannot wait for itself.
        DispatchQueue.global().async { [store, directory] in
            try? store.close()
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    private static func file(_ directory: String) -> String { directory + "/store.sqlite" }

    private static func makeDirectory() throws -> String {
        let directory = FileManager.default.temporaryDirectory.appending(path: "saker-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory.path
    }

    private static func open(in directory: String) throws(TrackStoreError) -> SQLiteTrackStore {
        try SQLiteTrackStore(opening: file(directory), options: SQLiteTrackStoreOptions(synchronous: .normal))
    }
}

extension ServiceStore {
    /// Adds a key that may do what keys without scopes could do.
    package func addKey(
        _ hash: AccessKeyHash, secret: String?, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await addKey(
            KeyGrant(hash, secret: secret, rights: .former), to: service, replacing: replacing, at: now)
    }
}

/// A writer of points that runs until it is let go of.
package final class RunningIngest: Sendable {
    package let writer: IngestWriter

    /// Tests play at any time: no clock is before this program, unless `clock` says so.
    package init(
        _ store: any TrackStore, limits: IngestLimits = IngestLimits(),
        clock: ClockRule = ClockRule(made: Timestamp(milliseconds: .min))
    ) {
        let writer = IngestWriter(
            store: store, limits: limits, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            clock: clock)
        self.writer = writer
        // Ends when the writer is finished.
        Task { await writer.run() }
    }

    deinit { writer.finish() }
}
