/// The lengths of the parameters' names in the bytes of a Call, read before the message is decoded.
///
/// The decoder puts parameters into a table by their names. A table finds a text by a form of its characters (Unicode's
/// canonical equivalence), and this form costs the square of the text's length when the text is one letter with a thousand
/// accents.
enum CallNames {
    /// Field numbers of the protocol, see docs/formats/track-protocol.md.
    private static let call: UInt64 = 4
    private static let parameters: UInt64 = 3
    private static let name: UInt64 = 1

    /// The longest name of a parameter in a client frame, bytes; nil when the frame is no Call, or has no parameter. Bytes that
    /// are no message end the search: the decoder refuses them. `Int.max` for what the decoder may pass over in another way.
    static func longest(inFrame bytes: [UInt8]) -> Int? {
        var longest: Int?
        var frame = Fields(bytes[...])
        while let call = frame.next(Self.call) {
            var fields = Fields(call)
            while let parameter = fields.next(Self.parameters) {
                var entry = Fields(parameter)
                while let name = entry.next(Self.name) { longest = max(longest ?? 0, name.count) }
                if entry.isStrange { return .max }
            }
            if fields.isStrange { return .max }
        }
        return frame.isStrange ? .max : longest
    }

    /// The fields of one message (Protocol Buffers' wire format).
    private struct Fields {
        private let bytes: ArraySlice<UInt8>
        private var index: Int
        /// There is a group, or a number of a field that none has: behind it this reader and the decoder could differ.
        private(set) var isStrange = false

        init(_ bytes: ArraySlice<UInt8>) { (self.bytes, index) = (bytes, bytes.startIndex) }

        /// The content of the next field of this number that has a length.
        mutating func next(_ number: UInt64) -> ArraySlice<UInt8>? {
            while let tag = varint() {
                isStrange = isStrange || tag > UInt64(UInt32.max)
                switch tag & 7 {
                case 0: guard varint() != nil else { return nil }
                case 1: index += 8
                case 2:
                    guard let length = varint(), length <= UInt64(max(0, bytes.endIndex - index)) else { return nil }
                    let start = index
                    index += Int(length)
                    if tag >> 3 == number { return bytes[start..<index] }
                case 5: index += 4
                // A group: none of these messages has one.
                default:
                    isStrange = true
                    return nil
                }
            }
            return nil
        }

        private mutating func varint() -> UInt64? {
            var value: UInt64 = 0
            for shift in stride(from: UInt64(0), to: 64, by: 7) {
                guard index < bytes.endIndex else { return nil }
                let byte = bytes[index]
                index += 1
                value |= UInt64(byte & 0x7F) << shift
                if byte & 0x80 == 0 { return value }
            }
            return nil
        }
    }
}
