import Foundation
import Logging
import NIOCore
import NIOPosix
import Testing
import TrackTestKit
import Varlink

@testable import AgentRuntime

@Suite(.timeLimit(.minutes(5))) struct ControlSocketTests {
    @Test(arguments: ["a file", "a directory", "a file in place of its directory"])
    func whatIsInTheWayIsToldAndLeftWhenItIsGone(_ obstacle: String) async throws {
        let directory = NSTemporaryDirectory() + "saker-socket-\(UInt32.random(in: 0 ... .max))"
        let path = directory + "/agent.varlink"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let inTheWay = obstacle == "a file in place of its directory" ? directory : path
        if inTheWay == path {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }
        if obstacle == "a directory" {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } else {
            try Data("mine".utf8).write(to: URL(fileURLWithPath: inTheWay))
        }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (changes, told) = AsyncStream.makeStream(of: String?.self)
        let socket = try await loop.flatSubmit {
            let options = VarlinkServer.Options(
                path: path, service: VarlinkServiceInfo(vendor: "Saker", product: "test", version: "1", url: ""))
            let log = Logger(label: "socket") { _ in SwiftLogNoOpLogHandler() }
            let box = NIOLoopBoundBox<ControlSocket?>(nil, eventLoop: loop)
            let socket = ControlSocket(options, [], log: log, loop: loop) { told.yield(box.value?.obstacle) }
            box.value = socket
            return socket.open().assumeIsolated().map { NIOLoopBound(socket, eventLoop: loop) }.nonisolated()
        }.get()
        var iterator = changes.makeAsyncIterator()
        let first = await iterator.next()
        let reason = try #require(first ?? nil)
        #expect(reason.contains(directory), "\(reason)")
        #expect(try await loop.submit { socket.value.isOpen }.get() == false)
        if obstacle != "a directory" {
            #expect(try String(contentsOfFile: inTheWay, encoding: .utf8) == "mine")
        }
        try FileManager.default.removeItem(atPath: inTheWay)
        let second = await iterator.next()
        #expect(second == .some(nil))
        #expect(try await loop.submit { socket.value.isOpen }.get())
        try await loop.flatSubmit { socket.value.close() }.get()
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
