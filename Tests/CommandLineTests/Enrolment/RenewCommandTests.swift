import ConfigurationFile
import Foundation
import Glibc
import HTTPExchange
import JSON
import ProgramTestKit
import SecureLink
import Terminal
import Testing

@testable import SakerCommand

@Suite(.timeLimit(.minutes(10))) struct RenewCommandTests {
    private let directory: TemporaryDirectory
    private let authority: TestAuthority
    private var place: String { directory.path + "/saker" }

    init() throws {
        directory = try TemporaryDirectory()
        authority = try TestAuthority(in: directory.path)
    }

    /// A vehicle whose certificate lasts so many days; fewer than 0: it ended so many days ago.
    private func enrol(
        _ server: EnrolmentServer, options: [String] = [], environment: [String: String] = [:]
    ) async throws {
        let line = EnrolmentString(
            host: "localhost", port: server.port, token: Secret("et_abcdefghijklmnopqrstuvwxyz234567"),
            trust: .pinnedKey(try authority.pin.digest))
        let result = try await SakerProgram.run(
            ["enroll", "-", "--directory", place] + options, environment: environment, input: line.encoded.revealed)
        try require(result.status == 0, result.errors)
    }

    private func renew(_ arguments: String...) async throws -> SakerProgram.Result {
        try await SakerProgram.run(["renew", "--config", place + "/agent.toml"] + arguments)
    }

    private var until: Int64 { get throws { try CertificateFile(path: place + "/device.pem").leaf.until } }

    @Test func aCertificateIsRenewedWhenItIsTimeAndKeepsItsKey() async throws {
        let server = try await EnrolmentServer.start(authority, .issue(days: 90), .issue(days: 200))
        try await enrol(server)
        let key = try Data(contentsOf: URL(fileURLWithPath: place + "/credentials/device-key"))
        let before = try until
        let early = try await renew()
        #expect(early.status == 0 && early.output.contains("It is renewed from"), "\(early.errors)")
        #expect(try await renew("--quiet").output.isEmpty)
        #expect(try until == before && server.requests.count == 1)

        let forced = try await renew("--force")
        #expect(forced.status == 0 && forced.output.contains("The certificate is renewed"), "\(forced.errors)")
        #expect(try until > before + 100 * 86_400)
        let request = try #require(server.requests.last)
        #expect(request.path == "/enrol/v1/renew" && request.body["token"] == nil)
        #expect(request.body["machine"]?.stringValue?.count == 64)
        #expect(try Data(contentsOf: URL(fileURLWithPath: place + "/credentials/device-key")) == key)
        #expect(FileStatus(of: place + "/device.pem")?.permissions == 0o644)
        try await server.stop()
    }

    /// A server of this version asks for a nonce first, and the key signs it.
    @Test func theKeySignsWhatTheServerAsksFor() async throws {
        let nonce = String(repeating: "0a", count: 24)
        let server = try await EnrolmentServer.start(
            authority, .issue(days: 90),
            .json(#"{"status":"challenge","nonce":"\#(nonce)"}"#, status: "401 Unauthorized"),
            .issue(days: 200))
        try await enrol(server)
        #expect(server.requests.last?.body["proves"] == true)
        let forced = try await renew("--force")
        #expect(forced.status == 0, "\(forced.errors)")
        let requests = server.requests.suffix(2)
        #expect(
            requests.map { $0.body["nonce"]?.stringValue } == [nil, nonce]
                && requests.allSatisfy { $0.body["proves"] == true })
        let file = directory.path + "/second.csr"
        try (requests.last?.body["request"]?.stringValue ?? "").write(toFile: file, atomically: true, encoding: .utf8)
        let read = try Program.run("/usr/bin/openssl", ["req", "-in", file, "-noout", "-subject", "-verify"])
        #expect(read.output.contains("renew:\(nonce)"), "\(read.all)")
        // A server that only asks ends it.
        server.answers(.json(#"{"status":"challenge","nonce":"\#(nonce)"}"#, status: "401 Unauthorized"))
        #expect(try await renew("--force").status == 1)
        try await server.stop()
    }

    @Test func aCertificateThatHasEndedIsRenewedAtOnce() async throws {
        let server = try await EnrolmentServer.start(authority, .issue(days: -30), .issue(entity: "van_08"))
        try await enrol(server)
        let result = try await renew("--quiet")
        #expect(result.status == 0, "\(result.errors)")
        // The agent takes the name of a moved device by itself: there is nothing to do, today and after each renewal.
        #expect(!result.output.contains("van_08") && !result.output.contains("service"), "\(result.output)")
        #expect(try until > LocalTime.now / 1000)
        try await server.stop()
    }

    // MARK: An enrolment beside it, and one that was cut

    private func put(_ key: borrowing DeviceKey) throws {
        try Data(key.pem()).write(to: URL(fileURLWithPath: place + "/credentials/device-key"))
    }

    private var certifiedKey: PublicKeyPin? {
        get throws { try CertificateFile(path: place + "/device.pem").key }
    }

    @Test func aRenewalBesideAnEnrolmentWritesNothing() async throws {
        let server = try await EnrolmentServer.start(authority, .issue(days: -1), .issue())
        try await enrol(server)
        let lock = try #require(try EnrolmentLock(VehicleDirectory(place)))
        let result = try await renew()
        #expect(result.status == 0 && result.output.contains("under way"), "\(result.output)\(result.errors)")
        #expect(server.requests.count == 1)
        lock.release()
        #expect(try await renew().output.contains("is renewed"))
        #expect(server.requests.count == 2)
        try await server.stop()
    }

    /// As `enroll --force --new-key` leaves a vehicle when the power goes after each of its steps.
    @Test(arguments: ["key", "key and certificate"]) func whatACutEnrolmentLeftIsMended(step: String) async throws {
        let server = try await EnrolmentServer.start(authority, .issue(days: 90), .issue(days: 100))
        try await enrol(server)
        let key = try DeviceKey.make()
        try put(key)
        if step != "key" {
            try authority.issue(try key.certificateRequest(name: "a"), days: 95)
                .write(toFile: place + "/device.pem", atomically: true, encoding: .utf8)
        }
        let result = try await renew()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try certifiedKey == key.publicKey, "\(result.output)")
        #expect(server.requests.count == (step == "key" ? 2 : 1))
        #expect(result.output.contains("is not the certificate of this vehicle's key") == (step == "key"))
        #expect(try await renew().output.contains("It is renewed from"))
        try await server.stop()
    }

    /// The key was in place, and its certificate stood beside the former one: no server is needed.
    @Test func theCertificateBesideTheFormerOneIsPutInPlace() async throws {
        let server = try await EnrolmentServer.start(authority, .issue(days: 90))
        try await enrol(server)
        let key = try DeviceKey.make()
        let next = place + "/device.pem.next"
        try authority.issue(try key.certificateRequest(name: "a"), days: 95)
            .write(toFile: next, atomically: true, encoding: .utf8)
        // For the key that is not in place yet, nothing is done.
        let early = try await renew()
        #expect(try certifiedKey != key.publicKey && FileManager.default.fileExists(atPath: next), "\(early.output)")
        try put(key)
        let result = try await renew()
        #expect(result.status == 0 && result.output.contains("is in place now"), "\(result.output)\(result.errors)")
        #expect(try certifiedKey == key.publicKey && !FileManager.default.fileExists(atPath: next))
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test func aKeyThatIsReplacedMeanwhileKeepsItsCertificate() async throws {
        let server = try await EnrolmentServer.start(authority, .issue(days: -1), .issue())
        try await enrol(server)
        let file = place + "/credentials/device-key"
        let other = Data(try DeviceKey.make().pem())
        server.meanwhile { try? other.write(to: URL(fileURLWithPath: file)) }
        let before = try until
        let result = try await renew()
        #expect(result.status == 1 && result.errors.contains("was replaced while"), "\(result.output)\(result.errors)")
        #expect(try until == before)
        try await server.stop()
    }

    @Test func aRefusalAndAnAbsenceLeaveTheCertificate() async throws {
        let server = try await EnrolmentServer.start(
            authority, .issue(days: -100),
            .json(#"{"status":"refused","code":"ended","message":"it ended long ago"}"#, status: "403 No"))
        try await enrol(server)
        let before = try until
        let refused = try await renew()
        #expect(refused.status == 1 && refused.errors.contains("ended 100 days ago"), "\(refused.errors)")
        #expect(refused.errors.contains("enrol again"))
        #expect(try until == before)
        try await server.stop()
    }

    @Test func aCertificateForAnotherKeyIsNotKept() async throws {
        let request = try DeviceKey.make().certificateRequest(name: "other")
        let foreign = try authority.issue(request).replacing("\n", with: "\\n")
        let server = try await EnrolmentServer.start(
            authority, .issue(days: -1),
            .json(
                #"{"status":"issued","device":"\#(EnrolmentServer.device)","entity":"van","service":1,"host":"a","port":1,"certificate":"\#(foreign)"}"#
            ))
        try await enrol(server)
        let before = try until
        let result = try await renew()
        #expect(result.status == 1 && result.errors.contains("another key"), "\(result.errors)")
        #expect(try until == before)
        try await server.stop()
    }

    @Test func whatIsMissingIsNamed() async throws {
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let file = place + "/agent.toml"
        try "[server]\nhost = \"a\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        let none = try await renew()
        #expect(none.status == 0 && none.output.contains("no certificate of its own"), "\(none.errors)")
        try "[server]\nhost = \"a\"\nclient_certificate = \"x.pem\"\nclient_key = \"k\"\n"
            .write(toFile: file, atomically: true, encoding: .utf8)
        let missing = try await renew()
        #expect(missing.status == 1 && missing.errors.contains("x.pem"), "\(missing.errors)")
        let ended = try authority.issue(try DeviceKey.make().certificateRequest(name: "a"), days: -1)
        try ended.write(toFile: place + "/x.pem", atomically: true, encoding: .utf8)
        let homeless = try await renew()
        #expect(homeless.status == 1 && homeless.errors.contains("web_address"), "\(homeless.errors)")
    }

    /// A token locks after a few wrong PINs, and the timer runs each hour.
    @Test(.needs(.softHSM, .pkcs11Tool)) func aRefusedPINIsTriedOnce() async throws {
        let server = try await EnrolmentServer.start(authority, .issue(days: -1), .issue())
        let token = try SoftToken(in: directory.path)
        try await enrol(server, options: token.options, environment: token.environment)
        let (file, state) = (place + "/agent.toml", directory.path + "/state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        chown(state, 12, 34)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try (text + "\n[state]\ndirectory = \"\(state)\"\n").write(toFile: file, atomically: true, encoding: .utf8)
        try token.write(pin: "999999")
        let arguments = ["renew", "--config", file]
        let first = try await SakerProgram.run(arguments, environment: token.environment)
        #expect(first.status == 1 && first.errors.contains("does not take the PIN"), "\(first.errors)")
        let second = try await SakerProgram.run(arguments, environment: token.environment)
        #expect(second.status == 1 && second.errors.contains("it is not tried again"), "\(second.errors)")
        // The agent reads the note, and does not try the PIN either.
        let note = try #require(FileStatus(of: state + "/refused-pin"))
        #expect(geteuid() != 0 || (note.owner == 12 && note.group == 34))
        try token.write(pin: SoftToken.pin)
        let third = try await SakerProgram.run(arguments, environment: token.environment)
        #expect(third.status == 0 && FileStatus(of: state + "/refused-pin") == nil, "\(third.errors)")
        try await server.stop()
    }

    /// An unattended enrolment runs at each boot: a wrong PIN must not cost a try each time.
    @Test(.needs(.softHSM, .pkcs11Tool)) func anEnrolmentTriesARefusedPINOnce() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let token = try SoftToken(in: directory.path)
        try token.write(pin: "999999")
        let line = EnrolmentString(
            host: "localhost", port: server.port, token: Secret("et_abcdefghijklmnopqrstuvwxyz234567"),
            trust: .pinnedKey(try authority.pin.digest))
        func boot() async throws -> SakerProgram.Result {
            try await SakerProgram.run(
                ["enroll", "-", "--directory", place, "--unattended", "--spread", "0"] + token.options,
                environment: token.environment, input: line.encoded.revealed)
        }
        let first = try await boot()
        #expect(first.status == 1 && first.errors.contains("does not take the PIN"), "\(first.errors)")
        for _ in 0..<2 {
            let next = try await boot()
            #expect(next.status == 1 && next.errors.contains("it is not tried again"), "\(next.errors)")
        }
        #expect(server.requests.isEmpty)
        try token.write(pin: SoftToken.pin)
        let last = try await boot()
        #expect(last.status == 0 && FileStatus(of: place + "/credentials/refused-pin") == nil, "\(last.errors)")
        try await server.stop()
    }

    /// Without TLS anybody could answer, with an authority of his own.
    @Test(arguments: [true, false]) func nothingIsAskedWithoutTLS(inClientFile: Bool) async throws {
        let server = try await EnrolmentServer.start(authority, .issue(days: -1))
        try await enrol(server)
        let (plain, address) = try await TinyWebServer.start([])
        for name in inClientFile ? ["agent.toml", "client.toml"] : ["agent.toml"] {
            let text = try String(contentsOfFile: place + "/" + name, encoding: .utf8)
            let own = "https://localhost:\(server.port)"
            let changed =
                inClientFile && name == "agent.toml"
                ? text.replacing("web_address = \"\(own)\"\n", with: "") : text.replacing(own, with: address)
            try require(changed != text, text)
            try changed.write(toFile: place + "/" + name, atomically: true, encoding: .utf8)
        }
        let authority = try String(contentsOfFile: place + "/ca.pem", encoding: .utf8)
        let result = try await renew()
        #expect(result.status == 1 && result.errors.contains(address), "\(result.errors)")
        #expect(plain.requests.isEmpty && server.requests.count == 1)
        #expect(try String(contentsOfFile: place + "/ca.pem", encoding: .utf8) == authority)
        try await plain.stop()
        try await server.stop()
    }

    @Test func aClientTakesNoPlainAddress() throws {
        let plain = HTTPAddress(isEncrypted: false, host: "localhost", port: 80)
        #expect(throws: CommandFailure.self) { try EnrolmentClient(plain, trusting: .web(.systemRoots)) }
    }

    /// A tunnel is no failure of the unit. A foreign server is.
    @Test func aForeignServerIsAFailureAndAnAbsentOneIsNone() async throws {
        let server = try await EnrolmentServer.start(authority, .issue(days: -1))
        try await enrol(server)
        let other = try TemporaryDirectory()
        let foreign = try await EnrolmentServer.start(try TestAuthority(in: other.path), .issue())
        let file = place + "/agent.toml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try text.replacing("localhost:\(server.port)", with: "localhost:\(foreign.port)")
            .write(toFile: file, atomically: true, encoding: .utf8)
        let result = try await renew()
        #expect(result.status == 1 && result.errors.contains("is not the server of this vehicle"), "\(result.errors)")
        #expect(foreign.requests.isEmpty)
        try await foreign.stop()
        try await server.stop()
    }

    /// The server has another authority meanwhile. The vehicle needs it, however it names its file.
    @Test(arguments: [true, false]) func aNewAuthorityIsKept(isNamedAbsolutely: Bool) async throws {
        let server = try await EnrolmentServer.start(authority, .issue(days: -1), .issue())
        try await enrol(server)
        let (file, ca) = (place + "/agent.toml", place + "/ca.pem")
        if isNamedAbsolutely {
            try String(contentsOfFile: file, encoding: .utf8).replacing("\"ca.pem\"", with: "\"\(ca)\"")
                .write(toFile: file, atomically: true, encoding: .utf8)
        }
        // As good as the server's, and not what the server sends.
        try ("# former\n" + authority.text(authority.certificate)).write(toFile: ca, atomically: true, encoding: .utf8)
        let result = try await SakerProgram.run(
            ["renew", "--config", "agent.toml"], through: ["/usr/bin/env", "--chdir", place])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try String(contentsOfFile: ca, encoding: .utf8) == authority.text(authority.certificate))
        try await server.stop()
    }

    @Test(
        arguments: [
            (0, 90, 59, RenewalPlan.State.early(due: 60)), (0, 90, 60, .due), (0, 90, 89, .due),
            (0, 90, 90, .ended(days: 0)),
            (0, 90, 90 + 86_400 * 3, .ended(days: 3)), (0, 1, 0, .due), (5, 5, 4, .early(due: 5)),
            (5, 4, 4, .ended(days: 0)),
            (Int64.min, Int64.max, 0, .due), (Int64.max - 1, Int64.max, 0, .early(due: .max - 1)),
        ] as [(Int64, Int64, Int64, RenewalPlan.State)])
    func twoThirdsOfTheTimeAreWaitedFor(from: Int64, until: Int64, now: Int64, state: RenewalPlan.State) {
        #expect(RenewalPlan(from: from, until: until).state(at: now) == state)
    }
}
