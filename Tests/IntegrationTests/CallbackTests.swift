import Foundation
import ProgramTestKit
import Testing

/// An operator's URL over TLS: the real server, and a receiver with a certificate of the operator's own authority.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.python)) struct CallbackTests {
    private let fleet: Fleet
    private let own: Authority
    private let foreign: Authority
    private let start = Int(Date().timeIntervalSince1970) + 5

    init() throws {
        fleet = try Fleet()
        own = try Authority(named: "Operator", in: fleet.directory.path)
        foreign = try Authority(named: "Somebody else", in: fleet.directory.path)
    }

    private func startServer(_ callbacks: String) throws -> Program {
        try fleet.edit(fleet.server + "/server.toml", "[callbacks]\n", to: "[callbacks]\n\(callbacks)\n")
        return try fleet.startServer()
    }

    private var trusting: String { "private_addresses = true\nca = \"\(own.certificate)\"" }

    /// The answer's status and message, and the secret when the URL is set.
    private func set(_ receiver: AlarmReceiver, host: String = "localhost") throws -> (Int, String, secret: String) {
        let answer = try fleet.web(
            "fence/seturl", ["url": "https://\(host):\(receiver.port)/alarms"], post: true)
        let status = try require(answer["status"] as? Int, "\(answer)")
        return (status, answer["message"] as? String ?? "", answer["secret"] as? String ?? "")
    }

    /// Makes fence `number` 11 km north of the one before, and drives into it: an enter, and the exit of the one before.
    private func enter(_ number: Int) throws {
        let latitude = 40.0 + Double(number) * 0.1
        let made = try fleet.web(
            "fence/createcirclefence",
            [
                "fence_name": "depot", "monitored_person": fleet.entity, "radius": "200", "latitude": "\(latitude)",
                "longitude": "116.3", "coord_type": "wgs84",
            ], post: true)
        try require(made["status"] as? Int == 0, "\(made)")
        // Points before the fence was made do not count, and those of the next fence come later.
        let now = start + number * 90
        for (second, shift) in [(1, -0.01), (2, -0.008), (11, 0.0), (12, 0.0)] {
            let added = try fleet.web(
                "track/addpoint",
                [
                    "entity_name": fleet.entity, "latitude": "\(latitude + shift)", "longitude": "116.3",
                    "coord_type_input": "wgs84", "loc_time": "\(now + second)", "speed": "60",
                ], post: true)
            try require(added["status"] as? Int == 0, "\(added)")
        }
        try waitUntil("the alarms are in the history", within: 60) { try fleet.alarmHistory().count == number * 2 - 1 }
    }

    @Test func eachAlarmArrivesInOrderWhateverHappensToTheReceiver() throws {
        let receiver = try AlarmReceiver(own.serve("DNS:localhost"))
        var server = try startServer(trusting)
        let added = try fleet.web("entity/add", ["entity_name": fleet.entity], post: true)
        try require(added["status"] as? Int == 0, "\(added)")
        let (status, message, secret) = try set(receiver)
        #expect(status == 0, "\(message)")
        func taken() throws -> [String] { try receiver.requests().filter(\.isTaken).flatMap(\.keys) }
        try enter(1)
        try waitUntil("the first alarm arrives", within: 300) { try taken().count == 1 }

        // Nothing is sent to a certificate of another authority or of another name.
        try receiver.use(foreign.serve("DNS:localhost"))
        try enter(2)
        try waitUntil("the authority is refused", within: 300) { receiver.refusals > 0 }
        let refusals = receiver.refusals
        try receiver.use(own.serve("DNS:other.example"))
        try waitUntil("the name is refused", within: 300) { receiver.refusals > refusals + 1 }
        #expect(try receiver.requests().count == 2)
        try receiver.use(own.serve("DNS:localhost"))
        try waitUntil("the alarms of the second fence arrive", within: 300) { try taken().count == 3 }

        // An answer that is none: the same alarms come again.
        try receiver.act(.error)
        try enter(3)
        try waitUntil("the receiver has refused", within: 300) { try receiver.requests().contains { !$0.isTaken } }
        #expect(try taken().count == 3)
        try receiver.act(.taken)
        try waitUntil("the alarms of the third fence come again", within: 300) { try taken().count == 5 }

        // The receiver is away, and the server is stopped and killed meanwhile.
        receiver.end()
        try enter(4)
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        server = try fleet.startServer()
        try enter(5)
        server.end(SIGKILL)
        server = try fleet.startServer()
        try receiver.comeBack()
        try waitUntil("the alarms of the last fences arrive", within: 300) { try taken().count >= 9 }
        #expect(try taken() == fleet.alarmHistory().map(\.key), "each once, in order")
        #expect(try receiver.signed(by: secret) == receiver.requests().count)
        #expect(try receiver.signed(by: secret + "0") == 0)
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        receiver.end()
    }

    @Test func certificatesThatAreNotValidAreRefused() throws {
        let receiver = try AlarmReceiver(foreign.serve("DNS:localhost"))
        let server = try startServer(trusting)
        for names in ["DNS:other.example", "IP:127.0.0.2"] {
            try receiver.use(own.serve(names))
            let (status, message, _) = try set(receiver)
            #expect(status == 2 && message.contains("its certificate is not trusted"), "\(names): \(message)")
        }
        try receiver.use(foreign.serve("DNS:localhost"))
        let (status, message, _) = try set(receiver)
        #expect(status == 2 && message.contains("its certificate is not trusted"), "\(message)")
        #expect(try receiver.requests().isEmpty)
        // The file is read for each request.
        try FileManager.default.removeItem(atPath: own.certificate)
        let without = try set(receiver)
        #expect(without.0 == 2 && without.1.contains("ca in [callbacks]"), "\(without.1)")
        try FileManager.default.copyItem(atPath: foreign.certificate, toPath: own.certificate)
        let (good, problem, secret) = try set(receiver)
        #expect(good == 0, "\(problem)")
        #expect(try receiver.requests().map(\.type) == [1])
        #expect(try receiver.signed(by: secret) == 1 && receiver.signed(by: secret + "0") == 0)
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        receiver.end()
    }

    @Test func aReceiverThatMisbehavesHoldsUpNothing() throws {
        let hidden = try AlarmReceiver(own.serve("IP:127.0.0.1"))
        let receiver = try AlarmReceiver(own.serve("DNS:localhost"), redirect: "https://127.0.0.1:\(hidden.port)/")
        let server = try startServer(trusting)
        // The first request with TLS costs memory of its own.
        try receiver.act(.error)
        #expect(try set(receiver).0 == 2)
        let before = try require(ProcessFigures(of: server.identifier), "the server is gone")
        for (manner, part) in [
            (AlarmReceiver.Manner.redirect, "status 302"), (.endless, "more than 16384 bytes"), (.hang, "10 s"),
        ] {
            try receiver.act(manner)
            let (status, message, _) = try set(receiver)
            #expect(status == 2 && message.contains(part), "\(manner): \(message)")
        }
        #expect(try hidden.requests().isEmpty)
        let after = try require(ProcessFigures(of: server.identifier), "the server is gone")
        // Kilobytes. The answer has two million.
        #expect(after.anonymous - before.anonymous < 65_536, "\(before.anonymous) to \(after.anonymous)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        receiver.end()
        hidden.end()
    }

    @Test func theMachineItselfIsNotReachedUnlessTheOperatorAllowsIt() throws {
        let receiver = try AlarmReceiver(own.serve("DNS:localhost,IP:127.0.0.1"))
        let server = try startServer("ca = \"\(own.certificate)\"")
        for host in ["localhost", "127.0.0.1"] {
            let (status, message, _) = try set(receiver, host: host)
            #expect(status == 2 && message.contains("private_addresses"), "\(message)")
        }
        #expect(try receiver.requests().isEmpty)
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
        receiver.end()
    }

    @Test func aServerWithAFileThatCannotBeUsedDoesNotStart() throws {
        let path = fleet.server + "/server.toml"
        let file = fleet.directory.file("authorities.pem")
        try fleet.edit(path, "[callbacks]\n", to: "[callbacks]\nca = \"\(file)\"\n")
        for content in [nil, "no certificate"] as [String?] {
            try content?.write(toFile: file, atomically: true, encoding: .utf8)
            let done = try Program.run(Built.path("saker-server"), ["serve", "--config", path])
            #expect(done.status == 1 && done.all.contains("\(file) has no certificates"), "\(done.all)")
        }
    }
}
