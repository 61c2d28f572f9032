import Glibc

/// The agent as a unit of systemd.
enum AgentUnit {
    static let name = "sakerd.service"

    /// Whether systemd runs this machine, knows the unit, and takes orders from this user.
    static func canBeStarted() async -> Bool {
        guard geteuid() == 0 else { return false }
        return await MachineProbe.unit()?.load == "loaded"
    }

    /// Starts the agent now and at each boot; an agent that runs reads its new configuration. Waits until the agent is
    /// ready, for as long as the unit allows. Throws what systemd says when the agent does not start.
    static func start() throws {
        // Without this, systemd refuses an agent that a former configuration made fail too often. A unit that never
        // ran is not an error.
        _ = try systemctl("reset-failed", name)
        for verb in ["enable", "restart"] {
            let answer = try systemctl(verb, name)
            guard answer.status == 0 else {
                throw CommandFailure(
                    .failed,
                    "the files are written, but systemd cannot \(verb) sakerd: \(answer.text.printable). "
                        + "See why: journalctl -u sakerd -n 50")
            }
        }
    }

    private static func systemctl(_ verb: String, _ unit: String) throws -> (status: Int32, text: String) {
        let child = try ChildProcess.start(
            ["systemctl", "--quiet", "--no-ask-password", verb, unit], mergingErrors: true)
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
