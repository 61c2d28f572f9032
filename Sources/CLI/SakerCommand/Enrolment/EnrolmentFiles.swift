import ConfigurationFile
import Glibc
import HTTPExchange

/// The files of a vehicle that logs in with an access key.
///
/// | file | mode | holds |
/// |---|---|---|
/// | `agent.toml` | 0640 root:saker | the agent's configuration, no secret |
/// | `credentials/ak` | 0600 root | the access key; systemd hands it to the agent |
/// | `ca.pem` | 0644 | the server's own authority, when it has one |
/// | `client.toml` | 0644 | where the Web API is, for `saker track`, when the server has one |
struct EnrolmentFiles {
    private let enrolment: EnrolmentString
    private let service: Int64
    private let accessKey: Secret
    private let entity: String
    private let directory: VehicleDirectory

    /// `enrolment` has the service, as every line with an access key has.
    init(
        _ enrolment: EnrolmentString, service: Int64, accessKey: Secret, entity: String, directory: VehicleDirectory
    ) {
        self.enrolment = enrolment
        self.service = service
        self.accessKey = accessKey
        self.entity = entity
        self.directory = directory
    }

    /// The agent's configuration is written last. Without it, a vehicle that is half enrolled does not start.
    private func files(replacing: Bool) -> [VehicleDirectory.File] {
        var files = [
            VehicleDirectory.File(name: "credentials/ak", text: accessKey.revealed + "\n", mode: 0o600)
        ]
        if case .certificate(let der) = enrolment.trust {
            files.append(.init(name: "ca.pem", text: PEM.encoded(der), mode: 0o644))
        }
        if let client = clientText { files.append(.init(name: "client.toml", text: client, mode: 0o644)) }
        files.append(
            .init(name: "agent.toml", text: agentText, mode: 0o640, isForGroup: true, replaces: replacing))
        return files
    }

    /// Writes all files and returns their paths. Writes nothing when the vehicle is enrolled and `replacing` is false; what
    /// an enrolment that was interrupted has left is replaced.
    func write(replacing: Bool) throws(CommandFailure) -> [String] {
        if !replacing { try directory.refuseEnrolled() }
        return try directory.write(files(replacing: replacing))
    }

    private var agentText: String {
        var lines = [
            "# Written by saker enroll. All keys: agent.toml in the documentation.",
            "[server]",
            "host = \(TOMLText.quoted(enrolment.host))",
            "port = \(enrolment.port)",
        ]
        if let name = enrolment.serverName { lines.append("server_name = \(TOMLText.quoted(name))") }
        switch enrolment.trust {
        case .system: break
        case .certificate: lines.append("ca_file = \"ca.pem\"")
        case .pinnedKey(let digest):
            lines.append("pinned_key = \(TOMLText.quoted("sha256//" + Base64.encoded(digest)))")
        }
        lines += ["", "[service]", "id = \(service)"]
        // In its own place the key is root's, and systemd hands it over as the credential "ak".
        if directory.isSystemWide {
            lines.append(
                "# The access key is the credential \"ak\" of sakerd.service: \(directory.path)/credentials/ak")
        } else {
            lines.append("ak_file = \"credentials/ak\"")
        }
        lines.append("entity = \(TOMLText.quoted(entity))")
        lines.append(EnrolmentID.line())
        return lines.joined(separator: "\n") + "\n"
    }

    private var clientText: String? {
        guard let url = enrolment.webAddress else { return nil }
        var lines = [
            "# Written by saker enroll: where saker track and saker entity find the server.",
            "[server]",
            "url = \(TOMLText.quoted(url))",
            "service_id = \(service)",
            "ak_file = \"credentials/ak\"",
        ]
        if case .certificate = enrolment.trust { lines.append("ca_file = \"ca.pem\"") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What a person does next.
    var outcome: EnrolmentOutcome {
        EnrolmentOutcome(
            server: "\(enrolment.host):\(enrolment.port)", entity: entity, hasWebAPI: enrolment.webAddress != nil,
            hasKey: true, directory: directory)
    }
}

/// Tells one enrolment from the next, in agent.toml.
///
/// The agent remembers what a person told it, such as another name or to stop. An agent that finds another mark than before is
/// another vehicle for the server, and begins anew.
enum EnrolmentID {
    static func line() -> String {
        let number = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }
        let digits = number.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
        return "# With another number the agent forgets the commands of before, such as saker service stop.\n"
            + "enrollment = \"\(digits)\""
    }
}

/// The files of a vehicle with a certificate of its own.
///
/// | file | mode | holds |
/// |---|---|---|
/// | `agent.toml` | 0640 root:saker | the agent's configuration, no secret |
/// | `device.pem` | 0644 | the vehicle's certificate |
/// | `credentials/device-key` | 0600 root | its key; systemd hands it to the agent |
/// | `ca.pem` | 0644 | the server's own authority, when it has one |
/// | `client.toml` | 0644 | where the Web API is, and which device this is |
struct DeviceFiles {
    static let certificate = "device.pem"
    static let authority = "ca.pem"
    static let configuration = "agent.toml"

    let identity: IssuedIdentity
    /// Where the identity was claimed.
    let address: HTTPAddress
    /// The pin of the line, for a server without authority of its own.
    let pin: String?
    let key: DeviceKeyChoice
    /// ``MachineIdentity/mark``
    let machine: String
    let directory: VehicleDirectory

    /// Writes all files, the agent's configuration last, and returns their paths. What an earlier enrolment left is gone
    /// then: an access key opens more than a certificate. Writes nothing when the vehicle is enrolled and `replacing` is
    /// false: it may have been enrolled in another way while this claim waited.
    func write(replacing: Bool) throws(CommandFailure) -> [String] {
        if !replacing { try directory.refuseEnrolled() }
        try placeCertificate()
        var files: [VehicleDirectory.File] = []
        if let authority = identity.authority {
            files.append(.init(name: Self.authority, text: authority, mode: 0o644))
        }
        files.append(.init(name: "client.toml", text: clientText, mode: 0o644))
        files.append(
            .init(name: Self.configuration, text: agentText, mode: 0o640, isForGroup: true, replaces: replacing))
        let written = [directory.path(Self.certificate)] + (try directory.write(files))
        directory.remove(["credentials/ak"] + (identity.authority == nil ? [Self.authority] : []))
        return written
    }

    /// A new key takes the place of the former one now, when its certificate is here. The certificate stands beside the former
    /// one before (``CertificateFiles``), so that a power cut leaves an agent that logs in with one of the two keys.
    private func placeCertificate() throws(CommandFailure) {
        let isPair = key.isBesideFormer(in: directory) && directory.has(Self.certificate)
        let name = isPair ? CertificateFiles.next(of: Self.certificate) : Self.certificate
        if !isPair { try key.settle(in: directory) }
        _ = try directory.write([VehicleDirectory.File(name: name, text: identity.certificate, mode: 0o644)])
        guard isPair else { return directory.remove([CertificateFiles.next(of: Self.certificate)]) }
        try key.settle(in: directory)
        try directory.move(name, to: Self.certificate)
    }

    /// Where the certificate is renewed; nil when the claim went to an address that no file can name.
    private var webAddress: String? { (identity.webAddress ?? WebAddress(address.description))?.description }

    private var agentText: String {
        var lines = [
            "# Written by saker enroll. All keys: agent.toml in the documentation.",
            "[server]",
            "host = \(TOMLText.quoted(identity.host))",
            "port = \(identity.port)",
        ]
        if let name = identity.serverName { lines.append("server_name = \(TOMLText.quoted(name))") }
        if identity.authority != nil {
            lines.append("ca_file = \"\(Self.authority)\"")
        } else if let pin {
            lines.append("pinned_key = \(TOMLText.quoted(pin))")
        }
        if let webAddress { lines.append("web_address = \(TOMLText.quoted(webAddress))") }
        lines.append("client_certificate = \"\(Self.certificate)\"")
        lines += key.lines(in: directory)
        lines += [
            "", "[service]", "id = \(identity.service)", "entity = \(TOMLText.quoted(identity.entity))",
            EnrolmentID.line(),
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private var clientText: String {
        var lines = [
            "# Written by saker enroll. On the vehicle, saker track and saker entity ask through the agent and need no key.",
            "[server]",
            "service_id = \(identity.service)",
        ]
        if let webAddress { lines.append("url = \(TOMLText.quoted(webAddress))") }
        if identity.authority != nil { lines.append("ca_file = \"\(Self.authority)\"") }
        lines += [
            "", "[device]", "id = \(TOMLText.quoted(identity.device))",
            "# The computer for which this identity was claimed. saker doctor finds a copy of the disk in another one by it.",
            "machine = \(TOMLText.quoted(machine))",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    var outcome: EnrolmentOutcome {
        EnrolmentOutcome(
            server: "\(identity.host):\(identity.port)", entity: identity.entity, hasWebAPI: true,
            hasKey: false, directory: directory)
    }
}
