import Foundation
import LocalSocket
import NIOCore
import NIOPosix
import ProgramTestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct LocalSocketTests {
    private let directory: TemporaryDirectory
    private let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var path: String { directory.file("socket") }

    private func listen(
        _ place: LocalSocket.Place, _ accepted: @escaping @Sendable (any Channel) -> Void = { _ in }
    ) async throws -> LocalSocket {
        try await LocalSocket.listen(at: place, on: loop) { [loop] in
            ServerBootstrap(group: loop, childGroup: loop).childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { accepted(channel) }
            }
        }.get()
    }

    private func listen() async throws -> LocalSocket { try await listen(.init(path: path, mode: 0o600)) }

    private func isAnswered(_ path: String) async throws -> Bool {
        guard let channel = try? await ClientBootstrap(group: loop).connect(unixDomainSocketPath: path).get() else {
            return false
        }
        try await channel.close()
        return true
    }

    private func status(_ path: String) -> (mode: UInt32, group: UInt32)? {
        var status = stat()
        return lstat(path, &status) == 0 ? (status.st_mode & 0o7777, status.st_gid) : nil
    }

    @Test func theFileHasItsModeAndGroupAndIsGoneAfterwards() async throws {
        let group = getuid() == 0 ? 12_345 : getgid()
        let socket = try await listen(.init(path: path, mode: 0o620, group: group))
        #expect(status(path)?.mode == 0o620)
        #expect(status(path)?.group == group)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["socket"])
        try await socket.close().get()
        #expect(status(path) == nil)
    }

    @Test func aMissingDirectoryIsMade() async throws {
        let path = directory.file("below") + "/socket"
        let socket = try await listen(.init(path: path, mode: 0o600))
        #expect(try await isAnswered(path))
        try await socket.close().get()
    }

    @Test func aStaleSocketIsReplacedAndALiveOneIsNot() async throws {
        try UnixSocket.leaveStale(at: path)
        #expect(status(path) != nil)
        let socket = try await listen()
        let error = await #expect(throws: LocalSocketError.self) { try await listen() }
        #expect(error?.code == .inUse)
        #expect(try await isAnswered(path))
        try await socket.close().get()
    }

    @Test func aFileThatIsNoSocketIsLeftAlone() async throws {
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        let error = await #expect(throws: LocalSocketError.self) { try await listen() }
        #expect(error?.code == .notASocket)
        #expect(status(path) != nil)
    }

    @Test func aFileOfAnotherProcessIsNotRemoved() async throws {
        let first = try await listen()
        _ = unlink(path)
        let second = try await listen()
        try await first.close().get()
        #expect(status(path) != nil)
        try await second.close().get()
    }

    @Test func aPathTooLongForTheSystemIsToldInWords() async throws {
        let path = directory.file(String(repeating: "x", count: 100))
        let error = await #expect(throws: LocalSocketError.self) {
            try await listen(.init(path: path, mode: 0o600))
        }
        #expect(error?.code == .pathTooLong)
    }

    @Test func aDirectoryThatCannotBeMadeIsToldInWords() async throws {
        let error = await #expect(throws: LocalSocketError.self) {
            try await listen(.init(path: "/proc/none/socket", mode: 0o600))
        }
        #expect(error?.code == .system)
        #expect(error?.detail.contains("/proc/none") == true)
    }

    @Test func thePeerIsWhoConnected() async throws {
        let peer = loop.makePromise(of: PeerCredentials.self)
        let socket = try await listen(.init(path: path, mode: 0o600)) {
            PeerCredentials.read(of: $0).cascade(to: peer)
        }
        #expect(try await isAnswered(path))
        let found = try await peer.futureResult.get()
        #expect(found.user == getuid() && found.group == getgid() && found.process == getpid())
        try await socket.close().get()
    }
}
