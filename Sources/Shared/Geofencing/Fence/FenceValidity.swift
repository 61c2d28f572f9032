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
