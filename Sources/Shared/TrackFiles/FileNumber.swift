internal import JSON

/// Numbers in files, the same in every format: a decimal number in ASCII digits, such as `-12`, `.5` or `1.5e3`, with white
/// space around it. Every other text is none: one with a unit or a group separator, a hexadecimal one, other digits.
package enum FileNumber {
    /// Metres in which a height lies that can be. What is outside is what a writer puts where it knows none: -9999, -19999,
    /// -32768, 65535, 1e25.
    package static let heights = -5000.0...50_000.0

    /// Nil for a text that is no number, and for a number beyond a double.
    package static func value(_ text: some StringProtocol) -> Double? { Double(decimal: text.trimmedOfSpace) }

    /// Whether a text says that there is no value.
    package static func isUnknown(_ text: some StringProtocol) -> Bool {
        unknowns.contains(text.trimmedOfSpace.lowercased())
    }

    private static let unknowns: Set<String> = ["", "-", "nan", "-nan", "+nan", "null", "none", "n/a", "na"]

    /// Metres; nil for what is no height that can be.
    package static func height(_ text: some StringProtocol) -> Double? {
        value(text).flatMap { heights.contains($0) ? $0 : nil }
    }
}

extension StringProtocol {
    /// Without spaces, tabs and ends of lines around it.
    package var trimmedOfSpace: String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = utf8.drop(while: isSpace)
        let kept = start.reversed().drop(while: isSpace).reversed()
        return String(decoding: Array(kept), as: UTF8.self)
    }
}
