import ConfigurationFile
import Glibc

/// The files of a vehicle that logs in with an access key.
///
/// | file | mode | holds |
/// |---|---|---|
/// | `agent.toml` | 0640 root:saker | the agent's configuration, no secret |
/// | `credentials/ak` | 0600 root | the access key; systemd hands it to the agent |
/// | `ca.pem` | 0644 | the server's own authority, when it has one |
/// | `client.toml` | 0644 | where the Web API is, for `saker track`, when the server has one |
struct EnrollmentFiles {
    private let enrollment: EnrollmentString
    private let service: Int64
    private let accessKey: Secret
    private let entity: String
    private let directory: VehicleDirectory

    /// `enrollment` has the service, as every line with an access key has.
    init(
        _ enrollment: EnrollmentString, service: Int64, accessKey: Secret, entity: String, directory: VehicleDirectory
    ) {
        self.enrollment = enrollment
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
        if case .certificate(let der) = enrollment.trust {
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
            "host = \(TOMLText.quoted(enrollment.host))",
            "port = \(enrollment.port)",
        ]
        if let name = enrollment.serverName { lines.append("server_name = \(TOMLText.quoted(name))") }
        switch enrollment.trust {
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
        lines.append(EnrollmentMark.line())
        return lines.joined(separator: "\n") + "\n"
    }

    private var clientText: String? {
        guard let url = enrollment.webAddress else { return nil }
        var lines = [
            "# Written by saker enroll: where saker track and saker entity find the server.",
            "[server]",
            "url = \(TOMLText.quoted(url))",
            "service_id = \(service)",
            "ak_file = \"credentials/ak\"",
        ]
        if case .certificate = enrollment.trust { lines.append("ca_file = \"ca.pem\"") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What a person does next.
    var outcome: EnrollmentOutcome {
        EnrollmentOutcome(
            server: "\(enrollment.host):\(enrollment.port)", entity: entity, hasWebAPI: enrollment.webAddress != nil,
            hasKey: true, directory: directory)
    }
}
