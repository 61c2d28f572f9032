import Foundation

/// The resources that a process uses at one moment.
package struct ProcessFigures: Hashable, Sendable {
    /// Kilobytes resident, and those of them that are private and anonymous.
    package let resident: Int
    package let anonymous: Int
    package let descriptors: Int
    package let threads: Int

    /// Nil when the process is gone.
    package init?(of process: Int32) {
        guard let rollup = try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8),
            let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd"),
            let resident = Self.number("Rss:", rollup), let anonymous = Self.number("Anonymous:", rollup),
            let threads = Self.number("Threads:", status)
        else { return nil }
        self.resident = resident
        self.anonymous = anonymous
        self.threads = threads
        descriptors = files.count
    }

    private static func number(_ key: String, _ text: String) -> Int? {
        text.split(separator: "\n").first { $0.hasPrefix(key) }?.split(whereSeparator: \.isWhitespace).dropFirst()
            .first.flatMap { Int($0) }
    }
}

/// A figure over a long time, and whether it is flat at the end.
package struct FlatnessCheck: Hashable, Sendable {
    package let name: String
    package let unit: String
    /// Medians of the second and of the last quarter.
    package let early: Int
    package let late: Int
    /// How much larger the late median may be.
    package let tolerance: Int
    package var isFlat: Bool { late <= early + tolerance }

    /// `share`: the tolerance in percent. `floor`: the least tolerance, in the figure's unit.
    package init(_ name: String, _ unit: String, _ samples: [Int], share: Int, floor: Int) {
        self.name = name
        self.unit = unit
        let quarter = samples.count / 4
        early = Self.median(samples.dropFirst(quarter).prefix(quarter))
        late = Self.median(samples.suffix(quarter))
        tolerance = max(early * share / 100, floor)
    }

    private static func median(_ samples: ArraySlice<Int>) -> Int {
        samples.isEmpty ? 0 : samples.sorted()[samples.count / 2]
    }
}
