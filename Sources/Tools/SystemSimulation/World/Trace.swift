/// What happened in a history, as lines and as one number that two runs of a seed must have in common.
package struct Trace {
    /// Lines kept for a failure's report.
    private static let keptLines = 60

    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var lines: [String] = []
    /// Called with each line; for following one history.
    var follow: ((String) -> Void)?

    /// FNV-1a, so that the number is the same in every process.
    mutating func mix(_ value: UInt64) {
        hash = (hash ^ value) &* 0x0000_0100_0000_01B3
    }

    mutating func note(_ milliseconds: Int64, _ text: String) {
        mix(UInt64(bitPattern: milliseconds))
        for byte in text.utf8 { mix(UInt64(byte)) }
        let line = "\(Self.clock(milliseconds))  \(text)"
        follow?(line)
        if lines.count >= 2 * Self.keptLines { lines.removeFirst(Self.keptLines) }
        lines.append(line)
    }

    var lastLines: ArraySlice<String> { lines.suffix(Self.keptLines) }

    private static func clock(_ milliseconds: Int64) -> String {
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let seconds = milliseconds / 1000
        return
            "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2)).\(padded(milliseconds % 1000, 3))"
    }
}
