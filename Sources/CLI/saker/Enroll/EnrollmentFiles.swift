import ConfigurationFile
import Glibc

/// The files that an enrolment writes.
///
/// | file | mode | holds |
/// |---|---|---|
/// | `agent.toml` | 0640 root:saker | the agent's configuration, no secret |
/// | `credentials/ak` | 0600 root | the access key; systemd hands it to the agent |
/// | `ca.pem` | 0644 | the server's own authority, when it has one |
/// | `client.toml` | 0644 | where the Web API is, for `saker track`, when the server has one |
struct EnrollmentFiles {
    static let systemDirectory = "/etc/saker"
    private static let group = "saker"

    private let enrollment: EnrollmentString
    private let entity: String
    private let directory: String

    init(_ enrollment: EnrollmentString, entity: String, directory: String) {
        self.enrollment = enrollment
        self.entity = entity
        var directory = directory
        while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
        self.directory = directory
    }

    private struct File {
        let name: String
        let text: String
        let mode: mode_t
        /// Readable for the agent's group.
        var isForGroup = false
    }

    /// The agent's configuration is written last. Without it, a vehicle that is half enrolled does not start.
    private var files: [File] {
        var files = [File(name: "credentials/ak", text: enrollment.accessKey.revealed + "\n", mode: 0o600)]
        if case .certificate(let der) = enrollment.trust {
            files.append(File(name: "ca.pem", text: PEM.encoded(der), mode: 0o644))
        }
        if let client = clientText { files.append(File(name: "client.toml", text: client, mode: 0o644)) }
        files.append(File(name: "agent.toml", text: agentText, mode: 0o640, isForGroup: true))
        return files
    }

    /// Writes all files and returns their paths. Writes nothing when a file exists and `replacing` is false.
    func write(replacing: Bool) throws(CommandFailure) -> [String] {
        let files = self.files
        if !replacing {
            for file in files where access(path(file), F_OK) == 0 {
                throw CommandFailure(
                    .failed, "\(path(file)) exists: this vehicle is enrolled already. Give --force to replace the file."
                )
            }
        }
        try make(directory, 0o755)
        try make(directory + "/credentials", 0o700)
        for file in files {
            do {
                try AtomicFile.write(Array(file.text.utf8), to: path(file), mode: file.mode, replacing: replacing)
            } catch {
                throw CommandFailure(
                    .failed, error.detail + (geteuid() == 0 ? "" : " (as root? sudo saker enroll …)"))
            }
            if file.isForGroup, let group = getgrnam(Self.group) {
                // Without the right, the file stays the caller's: an agent of his own reads it.
                _ = chown(path(file), uid_t.max, group.pointee.gr_gid)
            }
        }
        return files.map(path)
    }

    private func path(_ file: File) -> String { "\(directory)/\(file.name)" }

    private func make(_ path: String, _ mode: mode_t) throws(CommandFailure) {
        if mkdir(path, mode) == 0 {
            // Whatever the umask: the agent's own user must get through.
            chmod(path, mode)
            return
        }
        guard errno != EEXIST else { return }
        let reason = String(cString: strerror(errno))
        throw CommandFailure(
            .failed,
            "cannot make the directory \(path): \(reason)" + (geteuid() == 0 ? "" : " (as root? sudo saker enroll …)"))
    }

    /// Whether sakerd.service reads these files.
    var isSystemWide: Bool { directory == Self.systemDirectory }

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
        lines += ["", "[service]", "id = \(enrollment.service)"]
        // In its own place the key is root's, and systemd hands it over as the credential "ak".
        if isSystemWide {
            lines.append("# The access key is the credential \"ak\" of sakerd.service: \(directory)/credentials/ak")
        } else {
            lines.append("ak_file = \"credentials/ak\"")
        }
        lines.append("entity = \(TOMLText.quoted(entity))")
        return lines.joined(separator: "\n") + "\n"
    }

    private var clientText: String? {
        guard let url = enrollment.webAddress else { return nil }
        var lines = [
            "# Written by saker enroll: where saker track and saker entity find the server.",
            "[server]",
            "url = \(TOMLText.quoted(url))",
            "service_id = \(enrollment.service)",
            "ak_file = \"credentials/ak\"",
        ]
        if case .certificate = enrollment.trust { lines.append("ca_file = \"ca.pem\"") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What was done and what a person does next. `isStarted`: sakerd.service runs, and starts at each boot.
    func nextSteps(isStarted: Bool) -> [String] {
        let server = "\(enrollment.host):\(enrollment.port)"
        let start =
            isSystemWide
            ? (isStarted ? [] : ["  sudo systemctl enable --now sakerd"]) + ["  sudo saker status"]
            : ["  sakerd --config \(directory)/agent.toml"]
        let begun = isStarted ? " sakerd runs, and starts at each boot." : ""
        return ["This vehicle will log in to \(server) as \(entity.printable).\(begun) Next:"] + start
            + (enrollment.webAddress == nil
                ? []
                : [
                    "  " + (isSystemWide ? "sudo saker track latest " : "saker track latest ") + entity.printable
                        + (isSystemWide ? "" : " --config \(directory)/client.toml")
                ])
    }
}
