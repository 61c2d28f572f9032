import ConfigurationFile
import FoundationEssentials
import Glibc

/// The authority that signs the certificates of devices. It is another one than the server's: who may sign for a vehicle must
/// not be able to pass for the server.
package enum DeviceAuthority {
    static let certificateName = "device-ca.pem"
    static let keyName = ServerConfiguration.Device.authorityKeyName

    static func make(named name: String, at now: Date, key: String? = nil) throws(ServerError) -> KeyPair {
        try CertificateMaker.authority(named: "\(name) devices", at: now, key: key)
    }

    /// Makes one beside the configuration of a server that has none. Returns the path of the certificate, and the line that the
    /// configuration needs.
    package static func add(
        to configuration: ServerConfiguration, acts: ActJournal = ActJournal()
    ) throws(ServerError) -> (path: String, line: String) {
        if let authority = configuration.device.authority {
            throw ServerError(
                .exists, "\(configuration.effective.path) names an authority of devices already: \(authority)")
        }
        let file = configuration.effective.path
        let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        let (certificate, key) = ("\(folder)/\(certificateName)", "\(folder)/\(keyName)")
        guard access(certificate, F_OK) != 0 else {
            throw ServerError(.exists, "\(certificate) exists already: name it as authority in [device], or remove it")
        }
        // A key without a certificate has signed nothing yet: this command was cut between the two.
        let left = access(key, F_OK) == 0 ? try TextFile.read(key) : nil
        let pair: KeyPair
        do throws(ServerError) {
            pair = try make(named: "Fleet", at: Date(), key: left)
        } catch {
            guard left != nil else { throw error }
            throw ServerError(
                .exists,
                "\(key) exists already, and is no key that this command has made: move it away. There is no \(certificate) for it"
            )
        }
        do throws(ConfigurationError) {
            if left == nil { try AtomicFile.write(Array(pair.key.utf8), to: key, mode: 0o600, replacing: false) }
            try AtomicFile.write(Array(pair.certificate.utf8), to: certificate, mode: 0o644, replacing: false)
        } catch {
            throw ServerError(error)
        }
        acts.note(.deviceAuthority, in: nil, about: certificate)
        return (certificate, "authority = \(TOMLText.quoted(certificateName))")
    }

    /// Certificate and key, for whoever signs.
    static func load(_ configuration: ServerConfiguration) throws(ServerError) -> KeyPair {
        guard let certificate = configuration.device.authority, let key = configuration.device.authorityKey else {
            throw ServerError(
                .configuration,
                "\(configuration.effective.path) names no authority in [device]: `saker-server device authority` makes one"
            )
        }
        return KeyPair(certificate: try TextFile.read(certificate), key: try TextFile.read(key))
    }
}
