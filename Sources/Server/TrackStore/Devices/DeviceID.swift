/// The name of a device that never changes: 128 bits, written as a UUID. The certificate of the device has it.
package struct DeviceID: Hashable, Sendable, CustomStringConvertible {
    /// What the URI of a certificate begins with, before the UUID.
    package static let uriPrefix = "saker:device:"

    /// Sixteen.
    package let bytes: [UInt8]

    /// Nil when it is not 16 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// A new one (RFC 9562, version 4).
    package static func random(using generator: inout some RandomNumberGenerator) -> DeviceID {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return DeviceID(unchecked: bytes)
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// 36 characters, as in `0190163d-8694-4f2b-8c1d-0e5a2b7c9d31`. Nil for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        let digits = parts.joined().utf8.compactMap(Self.digit)
        guard digits.count == 32 else { return nil }
        bytes = stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The device whose certificate has this URI. Nil for a URI of another kind.
    package init?(uri: some StringProtocol) {
        guard uri.hasPrefix(Self.uriPrefix) else { return nil }
        self.init(uri.dropFirst(Self.uriPrefix.count))
    }

    package var uri: String { Self.uriPrefix + description }

    package var description: String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
