import ConfigurationFile
import Foundation
import Glibc
import JSON
import ProgramTestKit
import SecureLink
import Testing

@testable import SakerCommand

@Suite(.timeLimit(.minutes(10))) struct TokenEnrolmentTests {
    private static let token = "et_abcdefghijklmnopqrstuvwxyz234567"
    private let directory: TemporaryDirectory
    private let authority: TestAuthority
    private var place: String { directory.path + "/saker" }

    init() throws {
        directory = try TemporaryDirectory()
        authority = try TestAuthority(in: directory.path)
    }

    private func line(_ server: EnrolmentServer, _ trust: EnrolmentString.Trust? = nil) throws -> String {
        EnrolmentString(
            host: "localhost", port: server.port, token: Secret(Self.token),
            trust: try trust ?? .pinnedKey(authority.pin.digest)
        ).encoded.revealed
    }

    private func enroll(
        _ server: EnrolmentServer, _ arguments: String..., trust: EnrolmentString.Trust? = nil
    ) async throws -> SakerProgram.Result {
        let result = try await SakerProgram.run(
            ["enroll", "-", "--directory", place] + arguments, input: try line(server, trust))
        #expect(!result.output.contains(Self.token) && !result.errors.contains(Self.token))
        return result
    }

    private func mode(_ name: String) -> UInt32? { FileStatus(of: place + "/" + name)?.permissions }
    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: place + "/" + name, encoding: .utf8)
    }

    @Test func aTokenBecomesACertificateAndItsFiles() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let result = try await enroll(server, "--entity", "货车 07", "--serial", "SN-1")
        #expect(result.status == 0, "\(result.errors)")
        let claim = try #require(server.requests.first)
        #expect(claim.path == "/enrol/v1/claim")
        #expect(claim.body["token"]?.stringValue == Self.token && claim.body["entity"]?.stringValue == "货车 07")
        #expect(claim.body["serial"]?.stringValue == "SN-1" && claim.body["machine"]?.stringValue?.count == 64)
        #expect(claim.body["version"]?.stringValue?.isEmpty == false)

        #expect(mode("credentials") == 0o700 && mode("credentials/device-key") == 0o600)
        #expect(mode("agent.toml") == 0o640 && mode("device.pem") == 0o644 && mode("ca.pem") == 0o644)
        let key = try DeviceKey.open(.file(place + "/credentials/device-key")).publicKey
        #expect(try CertificateFile(path: place + "/device.pem").key == key)
        #expect(try text("ca.pem") == authority.text(authority.certificate))
        var reader = try ConfigurationReader(path: place + "/agent.toml")
        #expect(reader.requiredString("server", "host") == "localhost")
        #expect(reader.optionalString("server", "web_address") == "https://localhost:\(server.port)")
        #expect(reader.optionalString("server", "ca_file") == "ca.pem")
        #expect(reader.optionalString("server", "client_certificate") == "device.pem")
        #expect(reader.optionalString("server", "client_key") == "credentials/device-key")
        // The server says who the vehicle is.
        #expect(reader.optionalString("service", "entity") == "van_07")
        #expect(reader.integer("service", "id", default: 0, range: 0...10) == 7)
        let client = try #require(try ClientFile.load(explicit: place + "/client.toml", withKey: true))
        #expect(client.accessKey == nil && client.device == EnrolmentServer.device && client.machine?.count == 64)
        for name in ["agent.toml", "client.toml"] { #expect(!(try text(name)).contains(Self.token)) }

        let again = try await enroll(server)
        #expect(again.status == 1 && again.errors.contains("--force"), "\(again.errors)")
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test func aServerWithoutAuthorityOfItsOwnStaysPinned() async throws {
        let server = try await EnrolmentServer.start(authority, .issue(authority: false))
        #expect(try await enroll(server).status == 0)
        #expect(try text("agent.toml").contains("pinned_key = \"\(try authority.pin)\""))
        #expect(mode("ca.pem") == nil)
        try await server.stop()
    }

    /// An access key opens more than the certificate that replaces it.
    @Test func theAccessKeyOfAnEarlierEnrolmentIsRemoved() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let old = EnrolmentString(
            host: "fleet.example", port: 7443, service: 1, accessKey: Secret("AKold"), trust: .system)
        let first = try await SakerProgram.run(["enroll", "-", "--directory", place], input: old.encoded.revealed)
        #expect(first.status == 0 && mode("credentials/ak") == 0o600)
        #expect(try await enroll(server).status == 1)
        #expect(server.requests.isEmpty && mode("credentials/ak") == 0o600)
        #expect(try await enroll(server, "--force").status == 0)
        #expect(mode("credentials/ak") == nil)
        try await server.stop()
    }

    @Test func aForeignServerGetsNoTokenAndIsNamed() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        for trust in [EnrolmentString.Trust.system, .pinnedKey([UInt8](repeating: 7, count: 32))] {
            let result = try await enroll(server, trust: trust)
            #expect(result.status == 3 && result.errors.contains("is not the server of this line"), "\(result.errors)")
        }
        #expect(server.requests.isEmpty && mode("agent.toml") == nil)
        try await server.stop()
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n{", "longer than"),
        ("<html>no", "no HTTP/1.1"), ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n<a>", "is this its HTTPS port"),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "HTTP 404"),
    ])
    func garbageIsToldAndLeavesNoConfiguration(answer: String, told: String) async throws {
        let server = try await EnrolmentServer.start(authority, .raw(answer))
        let result = try await enroll(server)
        #expect(result.status == 1 && result.errors.contains(told), "\(result.errors)")
        #expect(mode("agent.toml") == nil && mode("device.pem") == nil)
        try await server.stop()
    }

    @Test func anAnswerThatIsCutIsAskedForAgain() async throws {
        let server = try await EnrolmentServer.start(
            authority, .raw("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"status\":"),
            .json(#"{"status":"refused","code":"busy","message":"soon","retry_after":0}"#, status: "503 Busy"), .issue()
        )
        let result = try await enroll(server)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("busy"))
        // The same key each time: the server takes the three claims for one device.
        #expect(Set(server.requests.map { $0.body["request"]?.stringValue }).count == 1)
        try await server.stop()
    }

    @Test func aRefusalEndsItWithWhatToDo() async throws {
        let server = try await EnrolmentServer.start(
            authority, .json(#"{"status":"refused","code":"token_ended","message":"it ended"}"#, status: "403 No"))
        let result = try await enroll(server)
        #expect(result.status == 1 && result.errors.contains("saker-server token create"), "\(result.errors)")
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test func aClaimThatWaitsForApprovalGoesOnWithTheSameKey() async throws {
        let pending = #"{"status":"pending","device":"\#(EnrolmentServer.device)","entity":"van_07","retry_after":60}"#
        let server = try await EnrolmentServer.start(authority, .json(pending, status: "202 Later"), .issue())
        let first = try await enroll(server, "--no-wait")
        #expect(first.status == 1 && first.errors.contains("device approve 0198c0de"), "\(first.errors)")
        #expect(mode("agent.toml") == nil)
        let second = try await enroll(server)
        #expect(second.status == 0, "\(second.errors)")
        let keys = try server.requests.map { try self.publicKey($0.body["request"]?.stringValue ?? "") }
        #expect(keys.count == 2 && keys[0] == keys[1])
        try await server.stop()
    }

    /// Killed while the answer is on its way: the server may have made a device for the key.
    @Test func aVehicleThatIsKilledInTheMiddleClaimsTheSameDevice() async throws {
        let server = try await EnrolmentServer.start(authority, .hang, .issue())
        let file = directory.path + "/line"
        try line(server).write(toFile: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: SakerProgram.path)
        process.arguments = ["enroll", file, "--directory", place]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        for await _ in server.arrived { break }
        kill(process.processIdentifier, SIGKILL)
        try process.awaitEnd()
        #expect(mode("agent.toml") == nil && mode("credentials/device-key") == 0o600)
        let result = try await SakerProgram.run(["enroll", file, "--directory", place])
        #expect(result.status == 0, "\(result.errors)")
        let keys = try server.requests.map { try self.publicKey($0.body["request"]?.stringValue ?? "") }
        #expect(keys.count == 2 && keys[0] == keys[1])

        // Another key only when a person asks for it.
        let other = try await SakerProgram.run(["enroll", file, "--directory", place, "--force", "--new-key"])
        #expect(other.status == 0, "\(other.errors)")
        #expect(try publicKey(server.requests[2].body["request"]?.stringValue ?? "") != keys[0])
        try await server.stop()
    }

    @Test func anUnattendedClaimRemovesTheLineWhenTheVehicleIsEnrolled() async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let file = directory.path + "/enroll.token"
        try line(server).write(toFile: file, atomically: true, encoding: .utf8)
        let arguments = ["enroll", file, "--directory", place, "--unattended", "--spread", "0"]
        let result = try await SakerProgram.run(arguments)
        #expect(result.status == 0 && access(file, F_OK) != 0, "\(result.errors)")
        // A line that is newer than the configuration is for another enrolment.
        try line(server).write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try await SakerProgram.run(arguments).status == 0)
        #expect(access(file, F_OK) == 0)
        // One that was left behind by a kill is not.
        var past = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        utimensat(AT_FDCWD, file, &past, 0)
        #expect(try await SakerProgram.run(arguments).status == 0)
        #expect(access(file, F_OK) != 0 && server.requests.count == 1)
        try await server.stop()
    }

    /// A vehicle that works must not lose its key to a claim that the server refuses.
    @Test func aNewKeyTakesItsPlaceOnlyWithItsCertificate() async throws {
        let refusal = EnrolmentServer.Way.json(
            #"{"status":"refused","code":"token_used_up","message":"no"}"#, status: "403 No")
        let server = try await EnrolmentServer.start(authority, .issue(), refusal, refusal, .issue())
        #expect(try await enroll(server).status == 0)
        let (key, certificate) = (try text("credentials/device-key"), try text("device.pem"))
        for _ in 0..<2 {
            let refused = try await enroll(server, "--force", "--new-key")
            #expect(refused.status == 1 && refused.errors.contains("token_used_up"), "\(refused.errors)")
            #expect(try text("credentials/device-key") == key && text("device.pem") == certificate)
        }
        #expect(mode("credentials/device-key.next") == 0o600)
        #expect(try await enroll(server, "--force", "--new-key").status == 0)
        #expect(mode("credentials/device-key.next") == nil && mode("credentials/device-key") == 0o600)
        let made = try DeviceKey.open(.file(place + "/credentials/device-key")).publicKey
        #expect(try CertificateFile(path: place + "/device.pem").key == made)
        // One new key in all three runs: the server sees one device more, and no other.
        let keys = try server.requests.map { try self.publicKey($0.body["request"]?.stringValue ?? "") }
        #expect(keys.count == 4 && Set(keys).count == 2 && Set(keys.dropFirst()).count == 1)
        try await server.stop()
    }

    @Test func theNewKeyOfAFirstEnrolmentThatWasCutIsUsed() async throws {
        let server = try await EnrolmentServer.start(
            authority, .json(#"{"status":"refused","code":"ended","message":"no"}"#, status: "403 No"), .issue())
        #expect(try await enroll(server, "--new-key").status == 1)
        #expect(mode("credentials/device-key") == nil && mode("credentials/device-key.next") == 0o600)
        #expect(try await enroll(server).status == 0)
        #expect(mode("credentials/device-key") == 0o600 && mode("credentials/device-key.next") == nil)
        let keys = try server.requests.map { try self.publicKey($0.body["request"]?.stringValue ?? "") }
        #expect(Set(keys).count == 1)
        try await server.stop()
    }

    /// A claim may wait for its approval for days.
    @Test(arguments: [true, false]) func whatAPersonWroteMeanwhileStays(isUnattended: Bool) async throws {
        let pending = #"{"status":"pending","device":"\#(EnrolmentServer.device)","retry_after":0}"#
        let server = try await EnrolmentServer.start(authority, .json(pending, status: "202 Later"))
        let file = directory.path + "/line"
        try line(server).write(toFile: file, atomically: true, encoding: .utf8)
        let words = ["enroll", file, "--directory", place] + (isUnattended ? ["--unattended", "--spread", "0"] : [])
        let result = Task { try await SakerProgram.run(words) }
        for await _ in server.arrived { break }
        // Two at once would mix two identities.
        let second = try await enroll(server)
        #expect(second.status == 1 && second.errors.contains("under way"), "\(second.errors)")
        try "mine".write(toFile: place + "/agent.toml", atomically: true, encoding: .utf8)
        server.answers(.issue())
        #expect(try await result.value.status == (isUnattended ? 0 : 1))
        #expect(try text("agent.toml") == "mine" && mode("device.pem") == nil && server.requests.count > 1)
        try await server.stop()
    }

    @Test func anAddressThatNobodyCanUseIsNamedAndLeftOut() async throws {
        let server = try await EnrolmentServer.start(authority, .issue(web: "http://tracks.lan:8080"))
        let result = try await enroll(server)
        #expect(result.status == 0 && result.errors.contains("http://tracks.lan:8080"), "\(result.errors)")
        for name in ["agent.toml", "client.toml"] {
            #expect(try text(name).contains("\"https://localhost:\(server.port)\""))
        }
        try await server.stop()
    }

    /// The key was made in a token and never leaves it.
    @Test(.needs(.softHSM, .pkcs11Tool)) func aKeyInATokenClaimsAndRenews() async throws {
        let token = try SoftToken(in: directory.path)
        let environment = token.environment
        let server = try await EnrolmentServer.start(authority, .issue(days: 1), .issue(days: 200))
        let arguments = ["enroll", "-", "--directory", place] + token.options
        let result = try await SakerProgram.run(arguments, environment: environment, input: try line(server))
        #expect(result.status == 0, "\(result.errors)")
        #expect(mode("credentials/device-key") == nil)
        let written = try text("agent.toml")
        for key in ["client_key = \"\(SoftToken.uri)\"", "client_key_module = ", "client_key_pin_file = "] {
            #expect(written.contains(key), "\(written)")
        }
        let first = try CertificateFile(path: place + "/device.pem")
        let renewed = try await SakerProgram.run(
            ["renew", "--config", place + "/agent.toml", "--force"], environment: environment)
        #expect(renewed.status == 0, "\(renewed.errors)")
        let second = try CertificateFile(path: place + "/device.pem")
        #expect(second.key == first.key && second.leaf.until > first.leaf.until)
        for told in [written, result.output, result.errors, renewed.output] { #expect(!told.contains(SoftToken.pin)) }
        // A PIN that is wrong is said as such, and asked for once.
        try token.write(pin: "999999")
        let refused = try await SakerProgram.run(
            arguments + ["--force"], environment: environment, input: try line(server))
        #expect(refused.status == 1 && refused.errors.contains("does not take the PIN"), "\(refused.errors)")
        #expect(server.requests.count == 2)
        try await server.stop()
    }

    @Test(arguments: [
        ["--key", "/etc/shadow"], ["--key", "file:/tmp/x"], ["--key", "pkcs11:object=a?pin-value=1234"],
        ["--key-module", "/x.so"], ["--serial", ""], ["--spread", "-1"], ["--no-wait", "--unattended"],
    ])
    func optionsThatCannotBeAreRefusedBeforeTheClaim(options: [String]) async throws {
        let server = try await EnrolmentServer.start(authority, .issue())
        let result = try await SakerProgram.run(
            ["enroll", "-", "--directory", place] + options, input: try line(server))
        #expect(result.status == 2 && !result.errors.contains("1234"), "\(result.errors)")
        #expect(server.requests.isEmpty)
        try await server.stop()
    }

    @Test func optionsForATokenDoNothingToALineWithAKey() async throws {
        let old = EnrolmentString(
            host: "fleet.example", port: 7443, service: 1, accessKey: Secret("AKold"), trust: .system)
        let result = try await SakerProgram.run(
            ["enroll", "-", "--directory", place, "--key", "tpm"], input: old.encoded.revealed)
        #expect(result.status == 2 && result.errors.contains("access key"), "\(result.errors)")
    }

    private func publicKey(_ request: String) throws -> String {
        let done = try Program.run("/usr/bin/openssl", ["req", "-noout", "-pubkey", "-verify"], input: request)
        try require(done.status == 0, done.all)
        return done.output
    }
}
