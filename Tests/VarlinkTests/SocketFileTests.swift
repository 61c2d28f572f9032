import Glibc
import JSON
import Testing

@testable import Varlink

@Suite(.timeLimit(.minutes(5))) struct SocketFileTests {
    private func mode(_ path: String) -> (mode: UInt32, group: UInt32)? {
        var status = stat()
        return lstat(path, &status) == 0 ? (status.st_mode & 0o7777, status.st_gid) : nil
    }

    @Test func theSocketHasItsModeAndGroupFromTheBeginningAndIsGoneAfterwards() async throws {
        let echo = try await EchoServer.start {
            $0.mode = 0o620
            $0.group = getuid() == 0 ? 12_345 : getgid()
        }
        #expect(mode(echo.path)?.mode == 0o620)
        #expect(mode(echo.path)?.group == (getuid() == 0 ? 12_345 : getgid()))
        try await echo.stop()
        #expect(mode(echo.path) == nil)
    }

    @Test func aMissingDirectoryIsMade() async throws {
        let directory = try TemporaryDirectory()
        let echo = try await EchoServer.start({ $0.path = directory.path + "/sub/echo" }, in: directory)
        #expect(try await VarlinkClient(path: echo.path).call("org.varlink.service.GetInfo")["version"] == "1")
        try await echo.stop()
    }

    @Test func aStaleSocketIsReplacedAndALiveOneIsNot() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/echo"
        leaveSocket(at: path)
        #expect(mode(path) != nil)
        let echo = try await EchoServer.start(in: directory)
        let error = await #expect(throws: VarlinkServerError.self) { try await EchoServer.start(in: directory) }
        #expect(error?.code == .inUse)
        #expect(try await VarlinkClient(path: path).call("org.varlink.service.GetInfo")["version"] == "1")
        try await echo.stop()
    }

    @Test func aFileThatIsNoSocketIsLeftAlone() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/echo"
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        let error = await #expect(throws: VarlinkServerError.self) { try await EchoServer.start(in: directory) }
        #expect(error?.code == .notASocket)
        #expect(mode(path) != nil)
    }

    @Test func aSocketThatAnotherTookThePlaceOfIsNotRemoved() async throws {
        let directory = try TemporaryDirectory()
        let first = try await EchoServer.start(in: directory)
        _ = unlink(first.path)
        let second = try await EchoServer.start(in: directory)
        try await first.stop()
        #expect(mode(second.path) != nil)
        try await second.stop()
    }

    @Test func aPathTooLongForTheSystemIsToldInWords() async throws {
        let directory = try TemporaryDirectory()
        let error = await #expect(throws: VarlinkServerError.self) {
            try await EchoServer.start { $0.path = directory.path + "/" + String(repeating: "x", count: 100) }
        }
        #expect(error?.code == .pathTooLong)
    }

    @Test func aDirectoryThatCannotBeMadeIsToldInWords() async throws {
        let error = await #expect(throws: VarlinkServerError.self) {
            try await EchoServer.start { $0.path = "/proc/none/echo" }
        }
        #expect(error?.code == .system)
        #expect(error?.detail.contains("/proc/none") == true)
    }
}
