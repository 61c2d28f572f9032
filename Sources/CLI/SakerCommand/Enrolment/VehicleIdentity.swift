import ConfigurationFile
import Glibc
import HTTPExchange
import SecureLink

/// What agent.toml says of this vehicle's certificate, its key, and where to renew it.
struct VehicleIdentity {
    let certificateFile: String
    let key: TLSClientOptions.PrivateKey
    let store: TLSClientOptions.KeyStore
    let authorityFile: String?
    let pin: PublicKeyPin?
    /// The name in the certificate of the server, and the host for which it counts.
    let host: String
    let serverName: String?
    let entity: String?
    /// Nil when neither agent.toml nor client.toml beside it names one that can be used.
    let webAddress: HTTPAddress?
    /// What they name in its place.
    let strangeWebAddress: String?
    /// Where the agent notes that a token has refused its PIN.
    let refusedPINs: String

    /// Nil when the vehicle has no certificate of its own. Throws when the file cannot be read.
    init?(configuration path: String) throws(CommandFailure) {
        let directory = VehicleDirectory(of: path)
        do throws(ConfigurationError) {
            var reader = try ConfigurationReader(path: path)
            guard let certificate = reader.optionalString("server", "client_certificate"),
                let key = reader.optionalString("server", "client_key")
            else { return nil }
            certificateFile = reader.resolve(certificate)
            self.key = .init(parsing: Self.place(ofKey: key, reader, directory))
            let pinFile = reader.optionalString("server", "client_key_pin_file").map { reader.resolve($0) }
            let standard = directory.has("credentials/token-pin") ? directory.path("credentials/token-pin") : nil
            let module = reader.optionalString("server", "client_key_module").map { reader.resolve($0) }
            let provider = reader.optionalString("server", "client_key_provider")
            store = .init(
                opener: provider.map { .init(parsing: $0) } ?? .automatic, module: module, pinFile: pinFile ?? standard)
            authorityFile = reader.optionalString("server", "ca_file").map { reader.resolve($0) }
            pin = try? reader.optionalString("server", "pinned_key").map { try PublicKeyPin(parsing: $0) }
            host = reader.requiredString("server", "host")
            serverName = reader.optionalString("server", "server_name")
            entity = reader.optionalString("service", "entity")
            let web = reader.optionalString("server", "web_address") ?? Self.client(directory)?.url
            webAddress = web.flatMap { WebAddress($0) }.flatMap { try? HTTPAddress($0.description) }
            strangeWebAddress = webAddress == nil ? web : nil
            refusedPINs = reader.string("state", "directory", default: "/var/lib/saker") + "/refused-pin"
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
    }

    /// The key in a file, also in that of a TPM: an enrolment replaces only such a key. Nil for a key that cannot be read,
    /// and for one in a token, which is not asked for its PIN only to look.
    var fileKey: PublicKeyPin? {
        switch key {
        case .file: (try? DeviceKey.open(key))?.publicKey
        case .store(let uri) where uri.hasPrefix("file:"): (try? DeviceKey.open(key, store: store))?.publicKey
        case .store: nil
        }
    }

    /// Whether a certificate is that of another key.
    func hasForeign(_ certificate: CertificateFile) -> Bool {
        fileKey.map { certificate.key != $0 } ?? false
    }

    /// The certificate that the agent uses: that of the file, or the one beside it when only that is the key's
    /// (``CertificateFiles``).
    func certificate() throws(SecureLinkError) -> CertificateFile {
        let own = try CertificateFile(path: certificateFile)
        guard hasForeign(own), let next = nextCertificate else { return own }
        return next
    }

    /// The certificate beside the one in use, when only it is the key's: an enrolment was cut between the two.
    var nextCertificate: CertificateFile? {
        let path = CertificateFiles.next(of: certificateFile)
        guard access(path, R_OK) == 0, let own = try? CertificateFile(path: certificateFile), hasForeign(own),
            let next = try? CertificateFile(path: path), !hasForeign(next)
        else { return nil }
        return next
    }

    /// A key's path or URI. The name of a credential alone is a file of root's, which systemd hands to the agent.
    static func place(ofKey key: String, _ reader: ConfigurationReader, _ directory: VehicleDirectory) -> String {
        guard !key.contains(":") else { return key }
        let path = reader.resolve(key)
        let credential = "\(VehicleDirectory.credentials)/\(key)"
        return !key.contains("/") && access(path, F_OK) != 0 && directory.has(credential)
            ? directory.path(credential) : path
    }

    private static func client(_ directory: VehicleDirectory) -> ClientFile? {
        guard directory.has("client.toml") else { return nil }
        return try? ClientFile.load(explicit: directory.path("client.toml"), withKey: false)
    }

    /// Trust as the agent's, for the listener of HTTPS.
    func trust(for address: HTTPAddress) -> TLSClientOptions {
        let name = address.host == host ? serverName : nil
        if let authorityFile {
            return .web(.authorities(file: authorityFile), pins: pin.map { [$0] } ?? [], serverName: name)
        }
        guard let pin else { return .web(.systemRoots, serverName: name) }
        return .web(.pinnedKeys, pins: [pin], serverName: name)
    }
}

/// Whether a certificate is due for renewal.
struct RenewalPlan: Hashable {
    enum State: Hashable {
        /// Nothing to do before this time.
        case early(due: Int64)
        case due
        /// It has ended so many whole days ago.
        case ended(days: Int64)
    }

    /// Seconds since 1970, all of them.
    let from: Int64
    let until: Int64

    init(from: Int64, until: Int64) { (self.from, self.until) = (from, until) }
    init(_ validity: CertificateFile.Validity) { (from, until) = (validity.from, validity.until) }

    /// Two thirds of the validity.
    var due: Int64 {
        // A certificate may claim any time, so neither the length nor its double must overflow.
        let length = max(0, until.subtractingReportingOverflow(from).partialValue)
        return from.addingReportingOverflow(length / 3 * 2 + length % 3 * 2 / 3).partialValue
    }

    func state(at now: Int64) -> State {
        if now >= until { return .ended(days: (now - until) / 86_400) }
        return now >= due ? .due : .early(due: due)
    }

    /// Days after the end in which a server still gives a new certificate to the same key.
    static let graceDays: Int64 = 90
}
