import ConfigurationFile
import JSON
import TrackModel

/// What a vehicle says of itself when it asks for a certificate. The request for the certificate proves the key.
struct EnrolmentRequest: Hashable {
    /// Of a claim; a renewal needs none.
    var token: Secret?
    /// PKCS #10, PEM.
    var certificateRequest: String
    /// The name that a person wishes; nil: the token's pattern decides.
    var entity: String?
    var serial: String?
    /// ``MachineIdentity/mark``
    var machine: String
    var model: String?
    /// Of a renewal: what the server has asked for, and what the certificate request has in its name.
    var nonce: String?

    /// JSON; holds the token.
    var encoded: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            if let token { writer.member("token", token.revealed) }
            writer.member("request", certificateRequest)
            if let entity { writer.member("entity", entity) }
            if let serial { writer.member("serial", serial) }
            writer.member("machine", machine)
            if let model { writer.member("model", model) }
            // This program signs what the server asks for, at each renewal.
            writer.name("proves")
            writer.bool(true)
            if let nonce { writer.member("nonce", nonce) }
            writer.member("version", SakerVersion.text)
        }
        return writer.bytes
    }
}
