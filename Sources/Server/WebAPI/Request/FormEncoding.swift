/// `application/x-www-form-urlencoded`, read and written byte by byte.
enum FormEncoding {
    /// Pairs of one query or body; more are refused.
    static let maximumPairs = 4096

    static var tooManyPairs: APIFailure { APIFailure(.parameter, "over \(maximumPairs) parameters") }

    struct Pair: Equatable, Sendable {
        /// As sent, for signatures.
        let rawKey: Substring.UTF8View.SubSequence
        let rawValue: Substring.UTF8View.SubSequence
        let key: String
        let value: String

        static func == (left: Self, right: Self) -> Bool { left.key == right.key && left.value == right.value }
    }

    static func pairs(_ text: some StringProtocol) throws(APIFailure) -> [Pair] {
        var pairs: [Pair] = []
        // One more than is taken: the rest of a long body is not cut into pieces.
        for part in Substring(text).utf8.split(separator: UInt8(ascii: "&"), maxSplits: maximumPairs) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let rawKey = part[..<equals]
            let rawValue = equals == part.endIndex ? part[equals...] : part[part.index(after: equals)...]
            guard let key = decoded(rawKey), let value = decoded(rawValue) else { throw APIFailure(.notUTF8) }
            guard pairs.count < maximumPairs else { throw tooManyPairs }
            pairs.append(Pair(rawKey: rawKey, rawValue: rawValue, key: key, value: value))
        }
        return pairs
    }

    /// The first value of a key that is not empty and that can be read, whatever the other pairs are and however many.
    /// For what must be known of a request that is refused.
    static func value(of key: String, in text: some StringProtocol) -> String? {
        var rest = Substring(text).utf8[...]
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest.dropFirst(part.count + 1)
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")),
                decoded(part[..<equals])?.utf8.elementsEqual(key.utf8) == true,
                let value = decoded(part[part.index(after: equals)...]), !value.isEmpty
            else { continue }
            return value
        }
        return nil
    }

    /// Nil when the bytes are not UTF-8. A percent sign without two hexadecimal digits stands for itself, because
    /// clients send it so.
    static func decoded(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = true) -> String? {
        String(validating: unescaped(bytes, plusIsSpace: plusIsSpace), as: UTF8.self)
    }

    /// As ``decoded(_:plusIsSpace:)``, with U+FFFD in place of what is not UTF-8.
    static func repaired(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = true) -> String {
        String(decoding: unescaped(bytes, plusIsSpace: plusIsSpace), as: UTF8.self)
    }

    private static func unescaped(_ bytes: some Collection<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            bytes.formIndex(after: &index)
            if byte == UInt8(ascii: "+"), plusIsSpace {
                result.append(0x20)
            } else if byte == UInt8(ascii: "%"), let (value, after) = hexadecimalPair(bytes, at: index) {
                result.append(value)
                index = after
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func hexadecimalPair<Bytes: Collection<UInt8>>(
        _ bytes: Bytes, at index: Bytes.Index
    ) -> (UInt8, Bytes.Index)? {
        guard index != bytes.endIndex, let high = digit(bytes[index]) else { return nil }
        let second = bytes.index(after: index)
        guard second != bytes.endIndex, let low = digit(bytes[second]) else { return nil }
        return (high << 4 | low, bytes.index(after: second))
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// How the standard libraries of the clients' languages encode a form; they differ in a few characters.
    enum Style: CaseIterable, Sendable {
        /// PHP `urlencode`, and the published reference.
        case php
        /// Go `url.QueryEscape`, newer Python: keeps `~`.
        case go
        /// Java `URLEncoder`: keeps `*`.
        case java
        /// .NET `WebUtility.UrlEncode`: keeps `! * ( )`.
        case dotNET
        /// .NET `HttpUtility.UrlEncode`: the same with small hexadecimal digits.
        case dotNETSmall
        /// RFC 3986: keeps `~`, a space is `%20`.
        case rfc3986

        fileprivate var extra: String {
            switch self {
            case .php: ""
            case .go, .rfc3986: "~"
            case .java: "*"
            case .dotNET, .dotNETSmall: "!*()"
            }
        }

        /// Those that write these bytes differently from each other.
        static func different(for bytes: some Sequence<UInt8>) -> [Self] {
            var seen = [Bool](repeating: false, count: 256)
            for byte in bytes { seen[Int(byte)] = true }
            let present = (UInt8.min...UInt8.max).filter { seen[Int($0)] }
            var forms: Set<[UInt8]> = []
            return allCases.filter { forms.insert(encoded(present, $0)).inserted }
        }
    }

    static func encoded(_ bytes: some Sequence<UInt8>, _ style: Style) -> [UInt8] {
        let digits = Array((style == .dotNETSmall ? "0123456789abcdef" : "0123456789ABCDEF").utf8)
        var isKept = [Bool](repeating: false, count: 256)
        for byte in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.".utf8 {
            isKept[Int(byte)] = true
        }
        for byte in style.extra.utf8 { isKept[Int(byte)] = true }
        let space: UInt8? = style == .rfc3986 ? nil : UInt8(ascii: "+")
        var result: [UInt8] = []
        result.reserveCapacity(bytes.underestimatedCount + bytes.underestimatedCount / 2)
        for byte in bytes {
            if isKept[Int(byte)] {
                result.append(byte)
            } else if byte == 0x20, let space {
                result.append(space)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(digits[Int(byte >> 4)])
                result.append(digits[Int(byte & 15)])
            }
        }
        return result
    }
}
