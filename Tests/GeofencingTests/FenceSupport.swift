import Geodesy
import TrackModel

@testable import Geofencing

func place(_ latitude: Double, _ longitude: Double) -> Coordinate {
    guard let place = Coordinate(latitude: latitude, longitude: longitude) else { preconditionFailure("no place") }
    return place
}

func degrees(_ pairs: [(Double, Double)]) -> [Degrees] { pairs.map { Degrees(latitude: $0.0, longitude: $0.1) } }

/// The shape of an outline that is right.
func shape(_ outline: ShapeDraft.Outline, buffer: Double = 0) -> Shape {
    do {
        return try ShapeDraft(outline, buffer: buffer).shape()
    } catch {
        preconditionFailure(error.description)
    }
}

func circle(_ latitude: Double, _ longitude: Double, _ radius: Double) -> Shape {
    shape(.circle(centre: Degrees(latitude: latitude, longitude: longitude), radius: radius))
}

func polygon(_ rings: [(Double, Double)]..., buffer: Double = 0) -> Shape {
    shape(.polygon([rings.map(degrees)]), buffer: buffer)
}

func corridor(_ line: [(Double, Double)], _ offset: Double) -> Shape {
    shape(.corridor(degrees(line), offset: offset))
}

func box(_ south: Double, _ north: Double, _ west: Double, _ east: Double) -> [(Double, Double)] {
    [(south, west), (south, east), (north, east), (north, west)]
}

/// Metres for a degree of longitude on the 40th parallel.
let metresPerDegreeEast = 85_393.95

func time(_ seconds: Double) -> Timestamp { Timestamp(milliseconds: Int64((seconds * 1000).rounded())) }

/// A point at a time in seconds; accuracy in metres and speed in m/s, nil when unknown.
func point(
    _ seconds: Double, _ latitude: Double, _ longitude: Double, accuracy: Double? = 5, speed: Double? = nil,
    receiver: Bool = true, floor: String? = nil, altitude: Double? = nil
) -> FencePoint {
    FencePoint(
        time: time(seconds), place: place(latitude, longitude),
        accuracy: accuracy.map { Int32(($0 * 10).rounded()) }, speed: speed.map { Int32(($0 * 100).rounded()) },
        isFromReceiver: receiver, floor: floor.flatMap(FloorCode.init(name:)),
        altitude: altitude.map { Int32(($0 * 10).rounded()) })
}

/// A point so many metres east of 40.0, 116.0.
func east(
    _ seconds: Double, _ metres: Double, accuracy: Double? = 5, speed: Double? = nil, receiver: Bool = true
) -> FencePoint {
    point(seconds, 40.0, 116.0 + metres / metresPerDegreeEast, accuracy: accuracy, speed: speed, receiver: receiver)
}

/// One entity and its fences, played point by point.
struct Drive {
    var memory = EntityMemory()
    var judge = FenceJudge()
    var fences: FenceSet
    var alarms: [FenceAlarm] = []
    var late = 0

    init(_ plans: FencePlan...) { fences = FenceSet(plans) }
    init(_ plans: [FencePlan]) { fences = FenceSet(plans) }

    mutating func play(_ points: FencePoint...) { play(points) }

    mutating func play(_ points: [FencePoint]) {
        for point in points where judge.judge(point, of: &memory, by: fences, into: &alarms) == .late { late += 1 }
    }

    func place(of fence: Int32 = 1) -> FencePair.Place {
        guard let plan = fences.plan(of: fence) else { return .unknown }
        return memory.status(of: plan).place
    }

    /// What was told, in short: action, fence, crossing in seconds with two decimals, causing point's seconds.
    var told: [String] { alarms.map(Self.short) }

    static func short(_ alarm: FenceAlarm) -> String {
        let crossing = Double(alarm.crossing.time.milliseconds / 10) / 100
        let name = alarm.group == nil ? "\(alarm.fence)" : "group"
        return "\(alarm.action) \(name) \(crossing) by \(Double(alarm.point.time.milliseconds) / 1000)"
    }
}

func plan(_ shape: Shape, id: Int32 = 1, _ change: (inout FencePlan) -> Void = { _ in }) -> FencePlan {
    var plan = FencePlan(id: id, shape: shape)
    change(&plan)
    return plan
}
