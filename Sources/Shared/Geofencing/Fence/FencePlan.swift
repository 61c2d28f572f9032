package import Geodesy
package import TrackModel

/// Everything about a fence that a verdict needs, and nothing else: names and parameters stay with the fence's owner.
package struct FencePlan: Hashable, Sendable {
    /// Positive. Local fences and server fences are two spaces of numbers, and have a memory each.
    package let id: Int32
    /// From 1. It grows with each change of what a verdict depends on.
    package var revision: Int32
    package var shape: Shape
    package var rule: FenceRule = .usual
    /// Whether an entity that is first seen inside makes an enter.
    package var initial = false
    /// Metres; a point with a worse accuracy is not judged. 0: every point is.
    package var denoise: Int32 = 0
    /// Seconds, ``crossingGaps``: the way between two points is known when no more time lies between them.
    package var crossingGap = 120
    /// When the fence came to be for this entity. Earlier points are not judged by it.
    package var from = Timestamp(milliseconds: .min)
    /// The revision of the last change of the area. A place that an earlier revision found is set anew.
    package var areaRevision: Int32 = 1
    /// When the area last changed: who is not remembered, and whose last point is older, is placed by that point.
    package var revisedAt = Timestamp(milliseconds: .min)

    private var particulars = Particulars.none

    package static let crossingGaps = 0...300

    package init(id: Int32, revision: Int32 = 1, shape: Shape) {
        self.id = id
        self.revision = revision
        self.shape = shape
    }

    /// A vehicle had judged the points up to a time when it got this fence. Its place in a fence that is new to it, or that was
    /// moved, is found by later points, without an alarm: the vehicle did not move. The server does the same for the
    /// vehicle's points, so both find the same alarms.
    ///
    /// `former`: the fence as the vehicle had it before, and since when it watched the vehicle; nil: it had none.
    package mutating func taken(after time: Timestamp, former: (fence: Fence, since: Timestamp)?) {
        let next = time.adding(milliseconds: 1)
        if let former {
            from = min(from, former.since)
            if former.fence.areaRevision != areaRevision { revisedAt = max(revisedAt, next) }
        } else {
            from = max(from, next)
        }
    }

    var countsThrough: Bool { through ?? shape.isArea }

    /// Metres beyond the boundary, with the accuracy, at which one point proves that the entity is out.
    var exitMargin: Double {
        switch shape.body {
        case .circle(let circle): max(20, circle.radius / 10)
        case .corridor(let corridor): max(20, corridor.offset / 10)
        case .polygon, .nowhere: 20
        }
    }

    /// Milliseconds.
    var settleTime: Int64 { Int64(settle) * 1000 }

    /// Known on both sides and different: the entity is elsewhere, wherever it is on the map.
    func isElsewhere(_ point: FencePoint) -> Bool {
        if let floor, let other = point.floor, floor != other { return true }
        if let altitude, let height = point.altitude, !altitude.contains(height) { return true }
        return false
    }

    func tells(_ action: FenceRule, at time: Timestamp) -> Bool {
        rule.contains(action) && validity?.contains(time) ?? true
    }
}

// MARK: What few fences have

extension FencePlan {
    /// It lies apart from the plan, so that the plans of many usual fences are small: they are what judging reads most.
    private struct Particular: Hashable, Sendable {
        var through: Bool?
        var stay: StayAlarmRule?
        var settle = 0
        var floor: FloorCode?
        var altitude: AltitudeRange?
        var validity: Validity?
        var group: GroupCode?
        var speedLimit: SpeedLimit?
    }

    private indirect enum Particulars: Hashable, Sendable {
        case none
        case some(Particular)
    }

    @inline(__always)
    private func particular<Value>(_ value: (Particular) -> Value, usual: Value) -> Value {
        switch particulars {
        case .none: usual
        case .some(let particular): value(particular)
        }
    }

    private mutating func change(_ change: (inout Particular) -> Void) {
        var new = particular({ $0 }, usual: Particular())
        change(&new)
        particulars = new == Particular() ? .none : .some(new)
    }

    /// Whether a visit between two points counts; nil: it does for areas, and does not for corridors.
    package var through: Bool? {
        get { particular({ $0.through }, usual: nil) }
        set { change { $0.through = newValue } }
    }

    package var stay: StayAlarmRule? {
        get { particular({ $0.stay }, usual: nil) }
        set { change { $0.stay = newValue } }
    }

    /// Seconds, 0 ... 604,800: enter and exit are told only when they have held for so long.
    package var settle: Int {
        get { particular({ $0.settle }, usual: 0) }
        set { change { $0.settle = newValue } }
    }

    package var floor: FloorCode? {
        get { particular({ $0.floor }, usual: nil) }
        set { change { $0.floor = newValue } }
    }

    package var altitude: AltitudeRange? {
        get { particular({ $0.altitude }, usual: nil) }
        set { change { $0.altitude = newValue } }
    }

    package var validity: Validity? {
        get { particular({ $0.validity }, usual: nil) }
        set { change { $0.validity = newValue } }
    }

    package var group: GroupCode? {
        get { particular({ $0.group }, usual: nil) }
        set { change { $0.group = newValue } }
    }

    package var speedLimit: SpeedLimit? {
        get { particular({ $0.speedLimit }, usual: nil) }
        set { change { $0.speedLimit = newValue } }
    }
}

/// What an alarm tells. The raw values are the names that people and programs use.
package enum FenceAction: String, Hashable, Sendable, CaseIterable {
    /// The entity came in.
    case enter
    /// The entity went out.
    case exit
    /// The entity has been inside for some time.
    case stay
    /// The entity was faster than the fence allows, for some time.
    case overspeed
}

/// Which changes of a fence are told.
package struct FenceRule: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let enter = Self(rawValue: 1)
    package static let exit = Self(rawValue: 2)
    package static let stay = Self(rawValue: 4)

    /// What a fence tells when nothing is said: enter and exit.
    package static let usual: Self = [.enter, .exit]
}

/// When a stay is told: some time after the enter, once or again and again.
package struct StayAlarmRule: Hashable, Sendable {
    /// Seconds after the enter, ``seconds``.
    package let after: Int
    /// Seconds between one stay and the next, ``seconds``; nil: once a visit.
    package let every: Int?

    package static let seconds = 5...604_800

    /// Nil when a number is outside its range.
    package init?(after: Int, every: Int? = nil) {
        guard Self.seconds.contains(after), Self.seconds.contains(every ?? after) else { return nil }
        self.after = after
        self.every = every
    }
}

/// The speed that a fence allows, and how long an entity may be faster.
package struct SpeedLimit: Hashable, Sendable {
    /// cm/s, above 0.
    package let speed: Int32
    /// Seconds, 0 ... 3600: an entity that is faster for so long is told.
    package let duration: Int

    /// Nil when a number is outside its range.
    package init?(speed: Int32, duration: Int) {
        guard speed > 0, (0...3600).contains(duration) else { return nil }
        self.speed = speed
        self.duration = duration
    }
}

/// The altitudes at which a fence counts, 0.1 m above mean sea level. Either end may be missing.
package struct AltitudeRange: Hashable, Sendable {
    package let lower: Int32?
    package let upper: Int32?

    /// Nil when the lower end is above the upper one.
    package init?(lower: Int32?, upper: Int32?) {
        if let lower, let upper, lower > upper { return nil }
        self.lower = lower
        self.upper = upper
    }

    func contains(_ altitude: Int32) -> Bool {
        altitude >= lower ?? .min && altitude <= upper ?? .max
    }
}

/// A floor, as a number made of its name. Floors are only compared: equal names have equal codes, and two different names
/// have the same code with a probability of 5e-20.
package struct FloorCode: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Nil for an empty name: the floor is not known.
    package init?(name: String) {
        guard !name.isEmpty else { return nil }
        rawValue = SHA256.hash(Array(name.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Nil: the point does not say on which floor it is.
    package init?(of point: TrackPoint) {
        guard !point.attributes.isEmpty, let value = point.attributes[FloorAttribute.key],
            let name = FloorAttribute.name(value)
        else { return nil }
        self.init(name: name)
    }
}

/// A group of fences, as a number made of its name and of who is watched: fences with the same name and watch are one more
/// thing with alarms of its own.
package struct GroupCode: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// `watch` tells one watch from another, for example an entity's name or `#allentity`.
    package init(name: String, watch: String) {
        let bytes = Array(name.utf8) + [0] + Array(watch.utf8)
        rawValue = SHA256.hash(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
