import Crypto

/// The `sn` of a signed request: MD5 of the once more encoded `path?query` and secret.
///
/// The clients' languages encode differently, so a signature is right when any way of writing the same request gives it.
enum Signature {
    /// Bytes of the body of a signed request, more than twice what a hundred points take: several ways of writing it are
    /// encoded and hashed before a wrong signature is refused.
    static let maximumBodyBytes = 128 << 10

    /// The request as sent, and its parameters as decoded.
    struct Subject {
        var isPOST: Bool
        /// As sent, and in its usual form.
        var paths: [String]
        /// As sent.
        var query: Substring
        /// Of the body as sent, when it was urlencoded.
        var bodyPairs: [FormEncoding.Pair]
        /// Of the body, however it was encoded.
        var decoded: [(key: String, value: String)]
    }

    /// Bytes that are hashed for one request at most. The likely ways of writing it come first.
    private static let mostHashedBytes = 8 << 20

    static func verify(_ signature: String, of subject: Subject, secret: String) -> Bool {
        var budget = mostHashedBytes
        return verify(signature, of: subject, secret: secret, budget: &budget)
    }

    /// `budget`: bytes that may be hashed; what is left of it is there afterwards.
    static func verify(_ signature: String, of subject: Subject, secret: String, budget: inout Int) -> Bool {
        // An MD5 as text.
        guard signature.utf8.count == 32 else { return false }
        let given = Array(signature.lowercased().utf8)
        let secret = Array(secret.utf8)
        for path in subject.paths {
            for query in queries(of: subject) {
                let base = Array(path.utf8) + [UInt8(ascii: "?")] + query + secret
                for style in FormEncoding.Style.different(for: base) {
                    let text = FormEncoding.encoded(base, style)
                    budget -= text.count
                    guard budget >= 0 else { return false }
                    if constantTimeEqual(digest(text), given) { return true }
                }
            }
        }
        return false
    }

    /// Small hexadecimal digits.
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return Insecure.MD5.hash(data: bytes).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// Different ones, the likely ones first.
    private static func queries(of subject: Subject) -> [[UInt8]] {
        guard subject.isPOST else {
            let pairs = subject.query.utf8.split(separator: UInt8(ascii: "&")).filter { !$0.starts(with: "sn=".utf8) }
            return [Array(pairs.joined(separator: [UInt8(ascii: "&")]))]
        }
        var queries: [[UInt8]] = []
        let raw = subject.bodyPairs.filter { !TextParts.isSame($0.key, "sn") }.sorted { isBefore($0.key, $1.key) }
        if !raw.isEmpty { queries.append(join(raw.map { (Array($0.rawKey), Array($0.rawValue)) })) }
        let decoded = subject.decoded.filter { !TextParts.isSame($0.key, "sn") }.sorted { isBefore($0.key, $1.key) }
        let all = decoded.lazy.flatMap { Array($0.key.utf8) + Array($0.value.utf8) }
        for style in FormEncoding.Style.different(for: all) {
            let query = join(
                decoded.map { (FormEncoding.encoded($0.key.utf8, style), FormEncoding.encoded($0.value.utf8, style)) })
            if !queries.contains(query) { queries.append(query) }
        }
        return queries
    }

    private static func isBefore(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private static func join(_ pairs: [([UInt8], [UInt8])]) -> [UInt8] {
        Array(pairs.map { $0 + [UInt8(ascii: "=")] + $1 }.joined(separator: [UInt8(ascii: "&")]))
    }

    private static func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
