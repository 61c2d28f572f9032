import Logging
import NIOCore
import RoadEngine
import RoadMatching
import TrackModel

/// The configured road engine.
struct RoadConnection {
    let client: RoadClient
    private let transport: HTTPRoadTransport

    /// Nil when none is configured. `close()` must be called in the end.
    init?(_ roads: ServerConfiguration.Roads?, logger: Logger) {
        guard let roads else { return nil }
        transport = HTTPRoadTransport(roads.url, connections: roads.concurrency)
        let settings = RoadClient.Settings(
            concurrency: roads.concurrency, callTimeout: Int64(roads.timeout),
            requestTimeout: Int64(roads.requestTimeout), driving: roads.drivingCosting.costing)
        client = RoadClient(transport, settings: settings, logger: logger) {
            MonotonicTime(milliseconds: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000))
        }
    }

    func close() async { await transport.shutdown() }
}

extension ServerConfiguration.Roads.DrivingCosting {
    fileprivate var costing: RoadCosting {
        switch self {
        case .auto: .car
        case .truck: .truck
        case .bus: .bus
        case .motorScooter: .motorScooter
        }
    }
}
