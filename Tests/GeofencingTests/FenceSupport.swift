import Geodesy
import ProgramTestKit
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
    var fenceState = EntityFenceState()
    var judge = FenceJudge()
    var fences: FenceSet
    var alarms: [FenceAlarm] = []
    var late = 0

    init(_ plans: FencePlan...) { fences = FenceSet(plans) }
    init(_ plans: [FencePlan]) { fences = FenceSet(plans) }

    mutating func play(_ points: FencePoint...) { play(points) }

    mutating func play(_ points: [FencePoint]) {
        for point in points where judge.judge(point, of: &fenceState, by: fences, into: &alarms) == .late { late += 1 }
    }

    func place(of fence: Int32 = 1) -> FencePair.Place {
        guard let plan = fences.plan(of: fence) else { return .unknown }
        return fenceState.status(of: plan).place
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

/// A random neighbourhood of fences and a random drive through it. The same seed gives the same world; everything is moved
/// east by `shift`, in units of 1e-7 degree.
struct World {
    private(set) var plans: [FencePlan] = []
    private(set) var points: [FencePoint] = []
    private let shift: Int64

    init(seed: UInt64, shift: Int64 = 0, latitude: Double = 40, fences: Int = 12, points count: Int = 120) {
        self.shift = shift
        var random = Dice(seed: seed)
        for id in 1...Int32(fences) { plans.append(plan(id, latitude, &random)) }
        points = drive(latitude, count, &random)
    }

    /// A place so many metres from the middle, on the grid.
    private func place(_ latitude: Double, _ north: Double, _ east: Double) -> Coordinate {
        let longitude = 1_160_000_000 + Int64((east * 130).rounded()) + shift
        let wrapped = (longitude + 1_800_000_000) % 3_600_000_000
        let low = (wrapped < 0 ? wrapped + 3_600_000_000 : wrapped) - 1_800_000_000
        let place = Coordinate(latitudeE7: Int32(latitude * 1e7 + north * 90), longitudeE7: Int32(low))
        guard let place else { preconditionFailure("no place") }
        return place
    }

    private func plan(_ id: Int32, _ latitude: Double, _ random: inout Dice) -> FencePlan {
        var plan = FencePlan(id: id, shape: shape(latitude, &random))
        plan.rule = [.enter, .exit, .stay]
        plan.initial = Bool.random(using: &random)
        if Bool.random(using: &random) { plan.through = Bool.random(using: &random) }
        if Bool.random(using: &random) {
            plan.stay = StayAlarmRule(
                after: Int.random(in: 5...60, using: &random),
                every: Bool.random(using: &random) ? Int.random(in: 5...60, using: &random) : nil)
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: plan.settle = Int.random(in: 1...40, using: &random)
        case 1: plan.denoise = Int32.random(in: 5...30, using: &random)
        case 2: plan.floor = FloorCode(name: "\(Int.random(in: 1...2, using: &random))")
        case 3: plan.group = GroupCode(name: "\(Int.random(in: 1...2, using: &random))", watch: "van")
        case 4: plan.speedLimit = SpeedLimit(speed: Int32.random(in: 50...1500, using: &random), duration: 5)
        default: break
        }
        return plan
    }

    private func shape(_ latitude: Double, _ random: inout Dice) -> Shape {
        let (north, east) = (
            Double.random(in: -900...900, using: &random), Double.random(in: -900...900, using: &random)
        )
        let size = Double.random(in: 20...400, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            return GeofencingTests.shape(.circle(centre: Degrees(place(latitude, north, east)), radius: size))
        case 1:
            let line = (0..<4).map { _ in
                Degrees(
                    place(
                        latitude, north + Double.random(in: -900...900, using: &random),
                        east + Double.random(in: -900...900, using: &random)))
            }
            return GeofencingTests.shape(.corridor(line, offset: size / 4))
        default:
            let count = Int.random(in: 3...9, using: &random)
            let ring = (0..<count).map { index in
                let angle = (Double(index) + 0.2) / Double(count) * 2 * .pi
                let reach = size * Double.random(in: 0.4...1, using: &random)
                return Degrees(
                    place(latitude, north + reach * Self.sine(angle), east + reach * Self.sine(angle + .pi / 2)))
            }
            let buffer = Bool.random(using: &random) ? 0 : size / 10
            return GeofencingTests.shape(.polygon([[ring]]), buffer: buffer)
        }
    }

    /// Bhaskara's sine is good enough for made-up shapes.
    private static func sine(_ angle: Double) -> Double {
        let turned = angle.truncatingRemainder(dividingBy: 2 * .pi)
        let half = turned > .pi ? turned - .pi : turned
        let value = 16 * half * (.pi - half) / (5 * .pi * .pi - 4 * half * (.pi - half))
        return turned > .pi ? -value : value
    }

    private func drive(_ latitude: Double, _ count: Int, _ random: inout Dice) -> [FencePoint] {
        var (north, east) = (
            Double.random(in: -900...900, using: &random), Double.random(in: -900...900, using: &random)
        )
        var (time, heading) = (Int64(1_795_000_000_000), Double.random(in: 0...6, using: &random))
        return (0..<count).map { _ in
            let isParked = Int.random(in: 0..<4, using: &random) == 0
            let speed = isParked ? Double.random(in: 0...1, using: &random) : Double.random(in: 2...25, using: &random)
            let step =
                Int.random(in: 0..<30, using: &random) == 0 ? 400_000 : Int64.random(in: 1000...20_000, using: &random)
            time += step
            heading += Double.random(in: -1...1, using: &random)
            if max(north.magnitude, east.magnitude) > 1200 { (north, east) = (north / 2, east / 2) }
            let way = speed * Double(min(step, 20_000)) / 1000
            north += way * Self.sine((heading + 20).magnitude)
            east += way * Self.sine((heading + 20 + .pi / 2).magnitude)
            let jump = Int.random(in: 0..<25, using: &random) == 0 ? 300.0 : 0
            return FencePoint(
                time: Timestamp(milliseconds: time), place: place(latitude, north + jump, east),
                accuracy: Bool.random(using: &random) ? Int32.random(in: 10...400, using: &random) : nil,
                speed: Bool.random(using: &random) ? Int32(speed * 100) : nil,
                isFromReceiver: Int.random(in: 0..<8, using: &random) > 0,
                floor: Int.random(in: 0..<3, using: &random) == 0
                    ? FloorCode(name: "\(Int.random(in: 1...2, using: &random))") : nil)
        }
    }
}

extension FenceAlarm {
    /// What an alarm says apart from the rounding of places and times on the way.
    var gist: String {
        "\(fence) \(revision) \(action) \(group?.rawValue ?? 0) \(point.time.milliseconds) \(skipped) \(number)"
    }
}
