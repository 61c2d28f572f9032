import ConfigurationFile
import HTTPExchange

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
            EnrollmentMark.line(),
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

    var outcome: EnrollmentOutcome {
        EnrollmentOutcome(
            server: "\(identity.host):\(identity.port)", entity: identity.entity, hasWebAPI: true,
            hasKey: false, directory: directory)
    }
}
