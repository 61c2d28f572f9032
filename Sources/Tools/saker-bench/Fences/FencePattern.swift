import Geodesy
import Geofencing
import TrackModel

/// Where the points are that a bench judges.
enum FencePattern: String, CaseIterable {
    /// Single places of the distribution of the fences: no drive, so nothing is remembered.
    case places = "p1"
    /// Drives in steps of 75 m; a point of each vehicle in turn.
    case byTime = "p2"
    /// The same drives, vehicle by vehicle in batches.
    case byVehicle = "p3"
    /// As ``byVehicle``, in steps of 15 m.
    case slow = "p4"
    /// Parked, with a jitter of 4 m.
    case parked = "p5"
    /// A recorded drive.
    case recorded = "p6"

    struct Run {
        let batch: Int
        let tracks: [[FencePoint]]
    }

    private static let start = Timestamp(seconds: 1_795_000_000)

    /// Empty when there is no recorded drive and it is asked for.
    func runs(in world: inout FenceWorld, _ recorded: [FencePoint]) -> [Run] {
        func drives(_ count: Int, _ points: Int, _ make: (inout FenceWorld, Int) -> [FencePoint]) -> [[FencePoint]] {
            (0..<count).map { _ in make(&world, points) }
        }
        func stepping(_ stride: Double) -> (inout FenceWorld, Int) -> [FencePoint] {
            { $0.drive(points: $1, stride: stride, from: Self.start) }
        }
        func batches(_ make: (inout FenceWorld, Int) -> [FencePoint]) -> [Run] {
            [Run(batch: 6, tracks: drives(2000, 96, make)), Run(batch: 1000, tracks: drives(100, 1000, make))]
        }
        switch self {
        case .places: return [Run(batch: 1, tracks: drives(192_000, 1, stepping(75)))]
        case .byTime: return [Run(batch: 1, tracks: drives(10_000, 100, stepping(75)))]
        case .byVehicle: return batches(stepping(75))
        case .slow: return batches(stepping(15))
        case .parked: return batches { $0.parked(points: $1, from: Self.start) }
        case .recorded:
            guard !recorded.isEmpty else { return [] }
            return [6, 1000].map { Run(batch: $0, tracks: Array(repeating: recorded, count: 100)) }
        }
    }
}
