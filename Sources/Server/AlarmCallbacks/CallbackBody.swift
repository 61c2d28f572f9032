import Crypto
import JSON
package import TrackModel
package import TrackStore
import WebAPI

/// What is sent to an operator's URL, see docs/web-api.md.
package enum CallbackBody {
    /// Asks the operator's server whether it takes alarms.
    package static func check(of service: ServiceID) -> [UInt8] { body(type: 1, service, []) }

    /// Alarms in their order.
    package static func alarms(_ alarms: [AlarmRecord], of service: ServiceID) -> [UInt8] {
        body(type: 2, service, alarms)
    }

    private static func body(type: Int64, _ service: ServiceID, _ alarms: [AlarmRecord]) -> [UInt8] {
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        writer.object { body in
            body.member("type", type)
            body.member("service_id", service.rawValue)
            body.array("content") { list in
                for alarm in alarms { list.object { AlarmWriter.callbacks.write(alarm, to: &$0) } }
            }
        }
        return writer.bytes
    }
}

/// Proves to the operator's server that a request comes from this server: HMAC-SHA-256 with the secret of the service.
package enum CallbackSignature {
    package static let header = "X-Saker-Signature"
    package static let timeHeader = "X-Saker-Time"

    /// Over the time in seconds as decimal digits, a full stop, and the body: 64 hexadecimal digits after `sha256=`.
    ///
    /// The time is signed too, so that nobody who has seen a request can send it again much later.
    package static func value(of body: [UInt8], at seconds: Int64, secret: String) -> String {
        let key = SymmetricKey(data: Array(secret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(seconds).".utf8) + body, using: key)
        let digits = Array("0123456789abcdef".utf8)
        return "sha256="
            + String(decoding: code.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
