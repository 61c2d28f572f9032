import Foundation
import ProgramTestKit
import Testing

/// Name servers and addresses that do not answer, in a network of their own.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python, .networkNamespaces))
struct NameServerTests {
    @Test func nameServersThatSwallowQuestionsHoldNothingUp() throws {
        let town = try Town()
        defer { town.source.end() }
        try town.useNameServers("10.99.0.1", "10.99.0.2", "10.99.0.3")
        let fleet = town.fleet
        let agent = try town.startAgent()
        try waitUntil("the name is not found", within: 300) { try town.cause() == "name_resolution" }
        #expect(try town.reason().contains("no name server has answered"))
        var gathered = try fleet.counter("gathered")
        for _ in 0..<12 {
            _ = try fleet.varlink("io.saker.Agent.Reconnect")
            // A new attempt, with new lookups, begins at the earliest after so long.
            pause(milliseconds: 1100)
            try waitUntil("gathering goes on", within: 300) { try fleet.counter("gathered") > gathered }
            gathered = try fleet.counter("gathered")
        }
        // Loop, feed, disk and a few of the runtime's; without a bound there were twice as many lookups alone.
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(agent.identifier)/task").count
        #expect(threads <= 18, "\(threads) threads")
        #expect(try fleet.saker(["service", "stop"]).status == 0)
        _ = try fleet.varlink("io.saker.Agent.StartService")
        try waitUntil("it tries again", within: 300) { try ["connecting", "waiting"].contains(fleet.linkState()) }

        // A name server that answers, as another network would bring one.
        let names = try NameServer(["A": "10.77.0.1"], in: town.link)
        try town.useNameServers("10.77.0.1")
        try waitUntil("online", within: 300) { try fleet.linkState() == "online" }
        try town.useNameServers("10.99.0.1", "10.99.0.2", "10.99.0.3")
        _ = try fleet.varlink("io.saker.Agent.Reconnect")
        // It ends while a lookup hangs.
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        names.program.end(SIGKILL)
    }

    /// Beside the IPv4 address that works.
    enum IPv6: CaseIterable { case questionIsSwallowed, addressLeadsNowhere }

    @Test(arguments: IPv6.allCases)
    func brokenIPv6DoesNotKeepTheServerFromBeingReached(_ trouble: IPv6) throws {
        let town = try Town()
        defer { town.source.end() }
        let zone: [String: String]
        switch trouble {
        case .questionIsSwallowed: zone = ["A": "10.77.0.1", "AAAA": "swallow"]
        case .addressLeadsNowhere:
            zone = ["A": "10.77.0.1", "AAAA": "2001:db8:1::1"]
            // An address and a way, at whose end nobody is.
            for command in ["address add 2001:db8:2::2/64 dev saker0 nodad", "route add 2001:db8:1::/48 dev saker0"] {
                try town.link.agentNetwork?.command(["-6"] + command.split(separator: " ").map(String.init))
            }
        }
        let names = try NameServer(zone, in: town.link)
        try town.useNameServers("10.77.0.1")
        let agent = try town.startAgent()
        try waitUntil("online", within: 300) { try town.fleet.linkState() == "online" }
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        names.program.end(SIGKILL)
    }
}

/// A vehicle that gathers, and whose server has a name.
private struct Town {
    let link: PacketLink
    let fleet: Fleet
    let source: ReceiverSource
    private let gpsd: Program
    private let server: Program
    private let resolverFile: String

    init() throws {
        link = try PacketLink(seed: 7)
        fleet = try Fleet(link: link)
        resolverFile = fleet.directory.file("resolv.conf")
        try "".write(toFile: resolverFile, atomically: true, encoding: .utf8)
        let file = fleet.agent + "/agent.toml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try require(text.contains("host = \"10.77.0.1\""), text)
        try text.replacingOccurrences(
            of: "host = \"10.77.0.1\"", with: "host = \"track.test\"\nserver_name = \"10.77.0.1\""
        ).write(toFile: file, atomically: true, encoding: .utf8)
        // Whoever is asked there never hears of it.
        try link.agentNetwork?.command(["route", "add", "10.99.0.0/24", "dev", "saker0"])
        let drive = ReceiverSource.drive(seconds: 20_000, from: 1_780_000_020).map { Array($0.utf8) }
        source = try ReceiverSource(pieces: drive, pause: 0.05, in: link.agentNetwork)
        gpsd = try fleet.startGPSD(source: source.address)
        server = try fleet.startServer()
        source.resume()
    }

    /// In place, as the agent sees the file itself.
    func useNameServers(_ addresses: String...) throws {
        let text = addresses.map { "nameserver \($0)\n" }.joined()
        let handle = try require(FileHandle(forWritingAtPath: resolverFile), resolverFile)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    func startAgent() throws -> Program {
        try fleet.startAgent(through: [
            "/usr/bin/unshare", "--mount", "/bin/sh", "-c", "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"",
            resolverFile,
        ])
    }

    func cause() throws -> String? { (try fleet.status()["link"] as? [String: Any])?["last_error_cause"] as? String }
    func reason() throws -> String {
        (try fleet.status()["link"] as? [String: Any])?["last_error"] as? String ?? ""
    }
}

/// A name server for every name, at the server's address.
private struct NameServer {
    let program: Program

    /// Addresses by record type; `swallow` gives no answer at all, a type that is missing an empty one.
    init(_ zone: [String: String], in link: PacketLink) throws {
        let script = """
            import json, socket, struct, sys
            zone = json.loads(sys.argv[1])
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            server.bind(("10.77.0.1", 53))
            print("ready", flush=True)
            while True:
                data, peer = server.recvfrom(4096)
                end = 12
                while data[end]:
                    end += data[end] + 1
                kind, = struct.unpack(">H", data[end + 1:end + 3])
                address = zone.get({1: "A", 28: "AAAA"}.get(kind, ""), "")
                if address == "swallow":
                    continue
                answer = b""
                if address:
                    packed = socket.inet_pton(socket.AF_INET if kind == 1 else socket.AF_INET6, address)
                    answer = b"\\xc0\\x0c" + struct.pack(">HHIH", kind, 1, 1, len(packed)) + packed
                head = data[:2] + b"\\x81\\x80" + struct.pack(">HHHH", 1, 1 if answer else 0, 0, 0)
                server.sendto(head + data[12:end + 5] + answer, peer)
            """
        let json = String(decoding: try JSONSerialization.data(withJSONObject: zone), as: UTF8.self)
        program = try Program("/usr/bin/env", ["python3", "-c", script, json], in: link.serverNetwork)
        try waitUntil("the name server", within: 300) {
            try require(program.isRunning, program.printed)
            return program.output.contains("ready")
        }
    }
}
