/// What is wrong with the dates of a receiver, as far as the vehicle's clocks tell.
package enum DateTrouble: Hashable, Sendable {
    /// The receiver's date and the clock of the vehicle's computer are far apart. `isClockUsed`: points have the clock's time,
    /// because the clock is kept; otherwise points have the receiver's.
    case disagreement(receiver: Timestamp, clock: Timestamp, isClockUsed: Bool)
    /// The receiver tells places without a time. `isClockUsed`: points have the time of the computer's clock, which is kept;
    /// otherwise no points are made.
    case missing(isClockUsed: Bool)
    /// The receiver tells the same time again and again. `isClockUsed` as above.
    case standing(receiver: Timestamp, isClockUsed: Bool)
    /// Two receivers of one gpsd tell different dates: points have the first one. `device`: the path of the other receiver, as
    /// far as it is known.
    case receivers(used: Timestamp, other: Timestamp, device: String?)

    /// Whether an operator should do something about it. A vehicle that makes no points says so itself.
    package var isTrouble: Bool {
        switch self {
        case .disagreement, .receivers: true
        case .missing, .standing: false
        }
    }

    /// Whether both say the same, whatever the times are.
    package func isLike(_ other: DateTrouble) -> Bool {
        switch (self, other) {
        case (.disagreement(_, _, let left), .disagreement(_, _, let right)): left == right
        case (.missing(let left), .missing(let right)): left == right
        case (.standing(_, let left), .standing(_, let right)): left == right
        case (.receivers, .receivers): true
        case (.disagreement, _), (.missing, _), (.standing, _), (.receivers, _): false
        }
    }
}

extension DateTrouble: CustomStringConvertible {
    /// For people: what is wrong and what follows from it, in one clause.
    package var description: String { "\(observation): \(consequence)" }

    /// For people: what is wrong, in one clause.
    package var observation: String {
        switch self {
        case .disagreement(let receiver, let clock, _):
            let times = Timestamp.told(receiver, clock)
            return "the receiver's date is \(times.0); the computer's clock says \(times.1)"
        case .missing(true): return "the receiver tells no time"
        case .missing(false): return "the receiver tells no time, and nobody keeps the computer's clock"
        case .standing(let receiver, true): return "the receiver's clock stands still at \(receiver.minute)"
        case .standing(let receiver, false):
            return "the receiver's clock stands still at \(receiver.minute), and nobody keeps the computer's clock"
        case .receivers: return "two receivers tell different dates"
        }
    }

    /// What follows from it for the points that are made.
    private var consequence: String {
        switch self {
        case .disagreement(_, _, let isClockUsed):
            return "points have the " + (isClockUsed ? "clock's time" : "receiver's time")
        case .missing(true), .standing(_, true): return "points have the time of the computer's clock"
        case .missing(false), .standing(_, false): return "no points are made"
        case .receivers(let used, let other, let device):
            let times = Timestamp.told(used, other)
            return "points have \(times.0); \(device ?? "the other receiver") says \(times.1)"
        }
    }

    /// For people: what to do.
    package var remedy: String {
        switch self {
        case .disagreement(_, _, isClockUsed: true):
            "Update the receiver's firmware, or let it find satellites under a free sky"
        case .disagreement:
            "Keep the computer's clock: sudo apt install systemd-timesyncd. If the receiver is wrong: update its firmware"
        case .standing(_, isClockUsed: true):
            "Switch the receiver off and on; if its clock stands again, update its firmware"
        case .standing:
            "Switch the receiver off and on, or keep the computer's clock: sudo apt install systemd-timesyncd"
        case .receivers: "Name the right one in agent.toml: device in [gnss]; or take the wrong one out of gpsd"
        case .missing(true): "Enable RMC or ZDA in the receiver"
        case .missing:
            "Enable RMC or ZDA in the receiver, or keep the computer's clock: sudo apt install systemd-timesyncd"
        }
    }
}

extension Timestamp {
    /// Two times that differ, as short as the difference allows.
    fileprivate static func told(_ left: Timestamp, _ right: Timestamp) -> (String, String) {
        left.day == right.day ? (left.minute, right.minute) : (left.day, right.day)
    }
}
