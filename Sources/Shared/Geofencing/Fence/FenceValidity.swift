package import TrackModel

/// When a fence is told, as it was given: ``Validity`` is what is judged.
package struct FenceValidity: Hashable, Sendable {
    package var from: Timestamp?
    /// The last instant.
    package var through: Timestamp?
    /// Open in any of these; always when there are none.
    package var windows: [WeeklyWindow]
    package var zone: FenceZone

    package static let mostWindows = 100

    package init(
        from: Timestamp? = nil, through: Timestamp? = nil, windows: [WeeklyWindow] = [], zone: FenceZone = .offset(0)
    ) {
        self.from = from
        self.through = through
        self.windows = windows
        self.zone = zone
    }

    /// The time zone that must be known to judge by the weekly windows; nil when none must be.
    package var zoneName: String? {
        guard !windows.isEmpty, case .named(let name) = zone else { return nil }
        return name
    }

    func check() throws(FenceError) {
        if let from, let through, from > through {
            throw FenceError(
                .validity,
                "valid from \(from.milliseconds) ms through \(through.milliseconds) ms: the end lies before the beginning"
            )
        }
        guard windows.count <= Self.mostWindows else {
            throw FenceError(.validity, "\(windows.count) weekly windows: a fence has at most \(Self.mostWindows)")
        }
        switch zone {
        case .offset(let seconds):
            guard FenceZone.offsets.contains(seconds) else {
                throw FenceError(.zone, "an offset of \(seconds) s from UTC: it is at most a day either way")
            }
        case .named(let name):
            let isName = name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                    UInt8(ascii: "+"):
                    true
                default: false
                }
            }
            // Its owner may look for a file of this name.
            guard isName, !name.isEmpty, name.utf8.count <= 64, !name.hasPrefix("/"), !name.hasSuffix("/") else {
                throw FenceError(.zone, "'\(name)' is no name of a time zone: write it as in Asia/Shanghai")
            }
        }
    }

    /// `zone` is what the named zone stands for.
    func validity(_ zone: ZoneOffsets?) throws(FenceError) -> Validity {
        switch self.zone {
        case .offset(let seconds):
            return Validity(from: from, through: through, windows: windows, zone: ZoneOffsets(first: seconds))
        case .named(let name):
            if windows.isEmpty { return Validity(from: from, through: through) }
            guard let zone else {
                throw FenceError(.zone, "the time zone \(name) is not known here: give an offset from UTC in its place")
            }
            return Validity(from: from, through: through, windows: windows, zone: zone)
        }
    }
}

/// When a fence is told. Outside these times its state goes on being kept, so that a window that opens while the entity is
/// inside makes no enter.
package struct Validity: Hashable, Sendable {
    package let from: Timestamp?
    /// The last instant.
    package let through: Timestamp?
    /// Open in any of these; always when there are none.
    package let windows: [WeeklyWindow]
    package let zone: ZoneOffsets

    package init(
        from: Timestamp? = nil, through: Timestamp? = nil, windows: [WeeklyWindow] = [], zone: ZoneOffsets = .utc
    ) {
        self.from = from
        self.through = through
        self.windows = windows
        self.zone = zone
    }

    package func contains(_ time: Timestamp) -> Bool {
        if let from, time < from { return false }
        if let through, time > through { return false }
        guard !windows.isEmpty else { return true }
        let (local, overflow) = time.seconds.addingReportingOverflow(Int64(zone.offset(at: time)))
        guard !overflow else { return false }
        let second = (local % 86_400 + 86_400) % 86_400
        // The first of January 1970 was a Thursday, day 3.
        let day = ((local - second) / 86_400 % 7 + 10) % 7
        return windows.contains { $0.isOpen(day: Int(day), second: Int32(second)) }
    }
}

/// A span of the day on some days of the week, in local time.
package struct WeeklyWindow: Hashable, Sendable {
    /// Bit 0 is Monday, bit 6 Sunday: the days on which the window opens.
    package let days: UInt8
    /// Seconds after midnight, 0 ..< 86,400.
    package let from: Int32
    /// Seconds after midnight, 0 ... 86,400; not after `from`: the window closes on the next day.
    package let to: Int32

    /// Nil when a number is outside its range, or no day is named.
    package init?(days: UInt8, from: Int32, to: Int32) {
        guard (1...127).contains(days), (0..<86_400).contains(from), (0...86_400).contains(to) else { return nil }
        self.days = days
        self.from = from
        self.to = to
    }

    /// `day` counts from 0 for Monday.
    func isOpen(day: Int, second: Int32) -> Bool {
        let opensToday = days & 1 << day != 0
        if from < to { return opensToday && second >= from && second < to }
        let openedYesterday = days & 1 << ((day + 6) % 7) != 0
        return (opensToday && second >= from) || (openedYesterday && second < to)
    }
}

/// The zone in whose local time a fence's weekly windows are given.
package enum FenceZone: Hashable, Sendable {
    /// Seconds east of UTC, ``offsets``.
    case offset(Int32)
    /// A name of the IANA database, such as `Asia/Shanghai`. Whoever makes a plan says what it stands for.
    case named(String)

    package static let offsets: ClosedRange<Int32> = -86_400...86_400
}

/// The offsets of a time zone from UTC, as far as they are known: the agent has no time zone data of its own.
package struct ZoneOffsets: Hashable, Sendable {
    /// Seconds east of UTC before the first change.
    package let first: Int32
    /// Changes in the order of their times: from `time` on the offset is `seconds`.
    package let changes: [Change]

    package struct Change: Hashable, Sendable {
        package let time: Timestamp
        package let seconds: Int32

        package init(time: Timestamp, seconds: Int32) {
            self.time = time
            self.seconds = seconds
        }
    }

    /// Changes come in any order.
    package init(first: Int32, changes: [Change] = []) {
        self.first = first
        self.changes = changes.sorted { $0.time < $1.time }
    }

    package static let utc = Self(first: 0)

    func offset(at time: Timestamp) -> Int32 {
        changes.last { $0.time <= time }?.seconds ?? first
    }
}
