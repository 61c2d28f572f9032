import Foundation

/// A real installation in one temporary directory: gpsd on a source of the test's choice, saker-server, sakerd, and the
/// command line.
package final class Fleet: Sendable {
    package let directory: TemporaryDirectory
    package let entity: String
    package let devicePort: Int
    package let webPort: Int
    package let gpsdPort: Int
    /// The link between agent and server; nil for the plain loopback.
    package let link: (any VehicleLink)?

    /// Before the names of the vehicle's files; empty for the first vehicle.
    private let prefix: String
    /// What the server's `init` printed for vehicles.
    private let enrolment: String

    package var server: String { directory.file("server") }
    package var agent: String { directory.file(prefix + "agent") }
    package var cache: String { directory.file(prefix + "cache") }
    package var state: String { directory.file(prefix + "state") }
    package var socket: String { directory.file(prefix + "agent.varlink") }

    /// Makes the configurations of server and agent, as a new user would. Starts nothing. The intervals are in seconds,
    /// and `pack` is a whole multiple of `gather`. `agentTables`: more tables for the agent's configuration.
    ///
    /// `founder`: the folder of another version of the programs that makes the configurations; nil for those under test.
    package init(
        gather: Int = 2, pack: Int = 4, agentTables: String = "", link: (any VehicleLink)? = nil,
        founder: String? = nil
    ) throws {
        self.link = link
        (prefix, entity) = ("", "van_07")
        directory = try TemporaryDirectory()
        devicePort = try inside(link?.serverNetwork) { try freePort() }
        webPort = try inside(link?.serverNetwork) { try freePort() }
        gpsdPort = try inside(link?.agentNetwork) { try freePort() }
        let host = link?.serverHost ?? "127.0.0.1"
        let program = Built.path("saker-server", in: founder)
        // Older servers make this device unasked, and do not know the option.
        let isAsked =
            try founder == nil || Program.run(program, ["init", "--help"]).all.contains("--legacy-device")
        let made = try Program.run(
            program,
            [
                "init", "--directory", directory.file("server"), "--host", host, "--name", "Test fleet",
                "--device-port", "\(devicePort)", "--https-port", "\(webPort)", "--http-port", "0",
            ] + (isAsked ? ["--legacy-device"] : []))
        try require(made.status == 0, "\(made.all)")
        enrolment = try require(
            made.output.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("saker1:") }.map(String.init),
            "no enrolment string")
        try enroll(gather: gather, pack: pack, tables: agentTables, founder: founder)
    }

    /// A second vehicle on the plain loopback, with a receiver and files of its own. `fleet`: of the first vehicle; it must outlive
    /// this one. `entity` nil: it runs as the entity of the first vehicle. `line`: of another service; nil: that of the first vehicle.
    package init(
        beside fleet: Fleet, as entity: String? = nil, enrolledWith line: String? = nil, gather: Int = 2, pack: Int = 4
    ) throws {
        link = nil
        (prefix, self.entity) = ("second-", entity ?? fleet.entity)
        (directory, enrolment) = (fleet.directory, line ?? fleet.enrolment)
        (devicePort, webPort, gpsdPort) = (fleet.devicePort, fleet.webPort, try freePort())
        try enroll(gather: gather, pack: pack, tables: "", founder: nil)
    }

    private func enroll(gather: Int, pack: Int, tables: String, founder: String?) throws {
        let enrolled = try Program.run(
            Built.path("saker", in: founder), ["enroll", "-", "--directory", agent, "--entity", entity],
            input: enrolment + "\n")
        try require(enrolled.status == 0, "\(enrolled.all)")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        try writeConfiguration(tables: tables)
        let settings = """
            {"version":1,"settings":{"gatherInterval":\(gather),"packInterval":\(pack),"cacheLimit":268435456,\
            "activity":"other","keepAlive":false}}
            """
        try Data(settings.utf8).write(to: URL(fileURLWithPath: state + "/state.json"))
    }

    private func writeConfiguration(tables: String) throws {
        let path = agent + "/agent.toml"
        var text = try String(contentsOfFile: path, encoding: .utf8)
        if let link {
            let port = try link.port(for: devicePort)
            text = text.replacingOccurrences(of: "port = \(devicePort)", with: "port = \(port)")
        }
        text += """

            [gnss]
            host = "127.0.0.1"
            port = \(gpsdPort)
            system_clock = false

            [cache]
            directory = "\(cache)"

            [state]
            directory = "\(state)"

            [control]
            socket = "\(socket)"
            \(tables)
            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// For another version of the agent: an older one refuses a key that it does not know. The drive has the time of today, so
    /// the system clock may play its part.
    private func configurationOfOthers() throws -> String {
        let text = try String(contentsOfFile: agent + "/agent.toml", encoding: .utf8)
        let path = agent + "/agent-of-others.toml"
        try text.replacingOccurrences(of: "system_clock = false\n", with: "")
            .write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// Returns when both ports answer. `folder`: of another version of the program; nil for the one under test.
    package func startServer(from folder: String? = nil) throws -> Program {
        let program = try Program(
            Built.path("saker-server", in: folder), ["serve", "--config", server + "/server.toml"],
            in: link?.serverNetwork)
        try waitUntil("the server answers", within: 300) {
            try require(program.isRunning, "\(program.printed)")
            return try inside(link?.serverNetwork) { isListening(devicePort) && isListening(webPort) }
        }
        return program
    }

    /// Returns when the control socket answers.
    ///
    /// `launcher`: a program with arguments that starts the agent; the agent and its arguments are appended. `folder`: of
    /// another version of the program; nil for the one under test.
    package func startAgent(
        environment: [String: String] = [:], through launcher: [String] = [], from folder: String? = nil
    ) throws -> Program {
        let configuration = try folder == nil ? agent + "/agent.toml" : configurationOfOthers()
        let command = launcher + [Built.path("sakerd", in: folder), "--config", configuration]
        let program = try Program(
            command[0], Array(command.dropFirst()), environment: environment, in: link?.agentNetwork)
        try waitUntil("the agent's control socket", within: 300) {
            try require(program.isRunning, "\(program.printed)")
            return (try? status()) != nil
        }
        return program
    }

    /// `source`: what gpsd reads, usually `ReceiverSource.address`.
    package func startGPSD(source: String) throws -> Program {
        let program = try Program(
            gpsdPath, ["-N", "-n", "-b", "-S", "\(gpsdPort)", "-F", directory.file(prefix + "gpsd.control"), source],
            in: link?.agentNetwork)
        try waitUntil("gpsd listens", within: 300) {
            try require(program.isRunning, "\(program.printed)")
            return try inside(link?.agentNetwork) { isListening(gpsdPort) }
        }
        return program
    }

    /// Takes a source away from gpsd, as when a receiver is unplugged. gpsd tells its clients everything before that.
    package func unplug(_ source: String) throws {
        let answer = try UnixSocket.exchange(
            directory.file(prefix + "gpsd.control"), Data("-\(source)\r\n".utf8), until: UInt8(ascii: "\n"))
        try require(
            String(decoding: answer, as: UTF8.self).hasPrefix("OK"), "gpsd does not give \(source) up: \(answer)")
    }

    @discardableResult
    package func saker(_ arguments: [String]) throws -> (status: Int32, output: String, all: String) {
        try Program.run(Built.path("saker"), arguments, environment: ["SAKER_SOCKET": socket])
    }

    /// The reply of GetStatus, directly from the socket.
    package func status() throws -> [String: Any] {
        let reply = try varlink("io.saker.Agent.GetStatus")
        return try require((reply["parameters"] as? [String: Any])?["status"] as? [String: Any], "\(reply)")
    }

    package func counter(_ name: String) throws -> Int {
        let counters = try require(try status()["counters"] as? [String: Any], "the status has no counters")
        return try require(counters[name] as? Int, "the status has no counter \(name)")
    }

    /// "disk" or "memory".
    package func cacheState() throws -> String {
        ((try status()["cache"] as? [String: Any])?["state"] as? String) ?? ""
    }

    package func linkState() throws -> String {
        ((try status()["link"] as? [String: Any])?["state"] as? String) ?? ""
    }

    /// Calls a method of the control socket. `seconds`: how long the reply may take.
    package func varlink(
        _ method: String, _ parameters: [String: Any] = [:], seconds: Int = 20
    ) throws -> [String: Any] {
        let request = try JSONSerialization.data(withJSONObject: ["method": method, "parameters": parameters])
        let reply = try UnixSocket.exchange(socket, request + [0], until: 0, seconds: seconds)
        return try require(
            try JSONSerialization.jsonObject(with: reply) as? [String: Any],
            "no JSON object: \(String(decoding: reply, as: UTF8.self))")
    }
}
