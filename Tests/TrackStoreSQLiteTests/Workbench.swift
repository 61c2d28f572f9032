import Foundation
import Synchronization
import TrackModel
import TrackStore
import TrackStoreSQLite
import TrackTestKit
import TrackWire

/// A directory of a test's own, removed with the object.
final class Workbench: Sendable {
    let folder: URL
    private let stores = Mutex<[SQLiteTrackStore]>([])

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "track-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        for store in stores.withLock({ $0 }) { try? store.close() }
        try? FileManager.default.removeItem(at: folder)
    }

    var path: String { folder.appending(path: "tracks.sqlite").path() }

    func open(
        _ path: String? = nil, _ options: SQLiteTrackStoreOptions = SQLiteTrackStoreOptions(synchronous: .normal)
    ) async throws -> SQLiteTrackStore {
        let store = try await SQLiteTrackStore(path: path ?? self.path, options: options)
        stores.withLock { $0.append(store) }
        return store
    }

    /// Each store in a file of its own.
    func openAnother() async throws -> SQLiteTrackStore {
        try await open(folder.appending(path: "\(UUID().uuidString).sqlite").path())
    }

    static func encode(_ points: [TrackPoint]) -> EncodedPoints {
        let batch = BatchCodec.encode(points)
        return EncodedPoints(isCompressed: batch.isCompressed, bytes: batch.bytes)
    }

    var subject: TrackStoreSubject {
        TrackStoreSubject(encode: Self.encode) { try await self.openAnother() }
    }
}

/// A plain point, one a second.
func point(_ seconds: Int64, speed: Int32 = 1000) -> TrackPoint {
    let wobble = Int32(truncatingIfNeeded: seconds % 100_000)
    guard let place = Coordinate(latitudeE7: 520_000_000 + wobble * 13, longitudeE7: 43_000_000 + wobble * 7) else {
        preconditionFailure("the place is in the Netherlands")
    }
    return TrackPoint(Fix(time: .at(seconds), coordinate: place, speed: speed, mode: .threeDimensional))
}

/// Points of no stream.
func upload(
    _ points: [TrackPoint], to service: ServiceID, entity: String = "truck", received: Timestamp = .at(0)
) -> IngestBatch {
    IngestBatch(
        service: service, entity: entity, position: nil, points: points, sequences: [],
        payload: Workbench.encode(points), received: received)
}

func everything(
    _ store: any TrackStore, _ service: ServiceID, _ entity: String = "truck"
) async throws -> [StoredPoint] {
    try await store.points(
        of: entity, in: service, from: Timestamp(milliseconds: .min), through: Timestamp(milliseconds: .max),
        limit: 10_000_000)
}
