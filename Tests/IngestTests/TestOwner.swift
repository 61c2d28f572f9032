import Ingest
import Synchronization
import Testing
import TrackModel
import TrackStore

/// Keeps what it is told.
final class TestOwner: IngestOwner {
    let source: IngestSource
    let sender: IngestSender
    private let settledJobs = Mutex<[SettledJob]>([])
    private let told: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    /// Each is a vehicle of its own, unless told otherwise.
    init(_ source: IngestSource, sender: IngestSender? = nil) {
        self.source = source
        self.sender = sender ?? vehicle("\(source)")
        (told, tell) = AsyncStream.makeStream()
    }

    var settled: [SettledJob] { settledJobs.withLock { $0 } }

    func settle(_ jobs: [SettledJob]) {
        settledJobs.withLock { $0 += jobs }
        tell.yield()
    }

    func spaceIsFree() {}

    /// Returns when so many jobs are settled.
    func settled(_ count: Int) async -> [SettledJob] {
        var iterator = told.makeAsyncIterator()
        while settled.count < count, await iterator.next() != nil {}
        return settled
    }
}

let service = 1 as Int64

/// A batch of so many custom points.
func batch(of points: Int, service: Int64 = service, entity: String = "car") throws -> IngestBatch {
    let place = try #require(Coordinate(latitudeE7: 1, longitudeE7: 1))
    return IngestBatch(
        service: try #require(ServiceID(rawValue: service)), entity: entity, position: nil,
        points: (0..<points).map { index in
            TrackPoint(Fix(time: Timestamp(milliseconds: 1_790_000_000_000 + Int64(index)), coordinate: place))
        }, sequences: [], payload: nil, received: Timestamp(milliseconds: 1_800_000_000_000))
}

/// A sender of this name.
func vehicle(_ name: String) -> IngestSender {
    guard let service = ServiceID(rawValue: service) else { preconditionFailure("the service has a number") }
    return .vehicle(EntityKey(service: service, name: name))
}
