import DirectoryAccess
import Glibc
import Terminal

/// The agent as a unit of systemd.
enum AgentUnit {
    static let name = "sakerd.service"
    private static let renewalTimer = "saker-renew.timer"
    private static let enrolment = "saker-enroll.service"

    /// Whether systemd runs this machine, knows the unit, and takes orders from this user.
    static func canBeStarted() async -> Bool {
        guard geteuid() == 0 else { return false }
        return await MachineProbe.unit()?.load == "loaded"
    }

    /// Starts the agent at each boot from now on. Throws what systemd says.
    static func enable() throws {
        try demand("enable", name, "the files are written, but systemd cannot enable sakerd")
    }

    /// Looks now and from each boot on whether the certificate is due. Throws what systemd says.
    static func enableRenewal() throws {
        let answer = try systemctl(["enable", "--now"], renewalTimer)
        guard answer.status == 0 else {
            throw CommandFailure(
                .failed,
                "the agent runs, but its certificate will not be renewed by itself: systemd cannot enable \(renewalTimer): "
                    + "\(answer.text.printable). Then: sudo systemctl enable --now \(renewalTimer)")
        }
    }

    /// An agent that runs reads its new configuration. Waits until the agent is ready, for as long as the unit allows.
    /// Throws what systemd says when the agent does not start.
    static func restart() throws { try begin("restart") }

    /// The same, and leaves an agent alone that runs.
    static func start() throws { try begin("start") }

    private static func begin(_ verb: String) throws {
        // Without this, systemd refuses an agent that a former configuration made fail too often. A unit that never
        // ran is not an error.
        _ = try systemctl(["reset-failed"], name)
        try demand(verb, name, "the files are written, but systemd cannot \(verb) sakerd")
    }

    private static func demand(_ verb: String, _ unit: String, _ complaint: String) throws {
        let answer = try systemctl([verb], unit)
        guard answer.status == 0 else {
            throw CommandFailure(
                .failed, "\(complaint): \(answer.text.printable). See why: journalctl -u sakerd -n 50")
        }
    }

    /// Stops the agent, its renewal, and an enrolment that waits, where systemd runs this machine. Returns when they have
    /// ended.
    static func stop() async throws {
        guard await MachineProbe.unit()?.load == "loaded" else { return }
        // The timer first: it would start its service again.
        for unit in [renewalTimer, "saker-renew.service", name, enrolment] {
            let answer = try systemctl(["stop"], unit)
            // 5: systemd knows no such unit.
            guard answer.status == 0 || answer.status == 5 else {
                throw CommandFailure(
                    .failed, "systemd cannot stop \(unit): \(answer.text.printable). Nothing was removed")
            }
        }
    }

    /// Lets the system below `root` (empty: this one) enrol itself at its next start. False when the unit is not installed
    /// there. Throws what systemd says.
    static func enableEnrolment(below root: String) throws -> Bool {
        let folders = ["/etc", "/usr/local/lib", "/usr/lib", "/lib"].map { "\($0)/systemd/system" }
        guard folders.contains(where: { DirectoryHandle.hasFile("\($0)/\(enrolment)", below: root) }) else {
            return false
        }
        if !root.isEmpty { try checkLinks(below: root) }
        let answer = try systemctl((root.isEmpty ? [] : ["--root=\(root)"]) + ["enable"], enrolment)
        guard answer.status == 0 else {
            throw CommandFailure(
                .failed,
                "the copies would not enrol themselves: systemd cannot enable \(enrolment): \(answer.text.printable)")
        }
        return true
    }

    /// systemd makes a link in this directory of the image, and would follow a link of the image out of it.
    private static func checkLinks(below root: String) throws(CommandFailure) {
        var path = ""
        for part in ["etc", "systemd", "system", "multi-user.target.wants"] {
            path += "/" + part
            guard let found = try? DirectoryHandle(path, below: root) else { continue }
            guard found.path == path else {
                throw CommandFailure(
                    .failed,
                    "the copies would not enrol themselves: \(root)\(path) is a link, which may lead out of the image. Put a directory "
                        + "in its place")
            }
        }
    }

    private static func systemctl(_ words: [String], _ unit: String) throws -> (status: Int32, text: String) {
        let child = try ChildProcess.start(
            ["systemctl", "--quiet", "--no-ask-password"] + words + [unit], mergingErrors: true)
        defer { close(child.output) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(child.output, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            text += piece[..<count]
        }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        return (child.wait(), lines.joined(separator: " "))
    }
}
