import Crypto
import TrackModel

/// What a device signs at a renewal, so that the server knows that its key is there now.
///
/// A challenge is a time and a code that only this process can make, so nothing is kept for it and anybody may ask. Whoever sends a
/// request again within the five minutes finds a renewal that was made less than ten minutes ago.
struct RenewalChallenge: Sendable {
    /// Milliseconds for which a challenge is good.
    static let goodFor: Int64 = 300_000
    /// Stands before a challenge in the common name of a request. No entity's name has a colon.
    static let prefix = "renew:"

    private let key = SymmetricKey(size: .bits256)

    /// 16 digits of the time and 32 of the code.
    func nonce(at now: Timestamp) -> String {
        let time = Self.digits(withUnsafeBytes(of: now.milliseconds.bigEndian) { Array($0) })
        return time + code(time)
    }

    /// Whether this process has made a nonce, and not too long ago.
    func isGood(_ nonce: String?, at now: Timestamp) -> Bool {
        guard let nonce, nonce.utf8.count == 48 else { return false }
        let time = String(nonce.prefix(16))
        // What carries the code was made here, so its time is one.
        guard nonce.dropFirst(16) == code(time), let made = Int64(time, radix: 16) else { return false }
        return (0...Self.goodFor).contains(now.milliseconds - made)
    }

    private func code(_ time: String) -> String {
        Self.digits(Array(HMAC<SHA256>.authenticationCode(for: Array(time.utf8), using: key).prefix(16)))
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
