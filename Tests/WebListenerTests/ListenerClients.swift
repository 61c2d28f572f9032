import Crypto
import Foundation
import NIOCore
import NIOPosix
import SwiftASN1
import Synchronization
import TrackTestKit
import X509

/// A connection that sends any bytes at any pace and remembers what came back.
final class RawClient: Sendable {
    private final class Collector: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        let bytes = Mutex<[UInt8]>([])
        private let greeting: String

        init(_ greeting: String) { self.greeting = greeting }

        func channelActive(context: ChannelHandlerContext) {
            guard !greeting.isEmpty else { return }
            context.channel.writeAndFlush(ByteBuffer(string: greeting), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            bytes.withLock { $0 += buffer.readableBytesView }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }

    private let collector: Collector
    private let channel: any Channel

    /// Without `reads` it takes nothing of what comes. `greeting` goes out in the turn of the loop that finds the connection
    /// made: a listener with a short time limit has it whatever the test is kept waiting for.
    ///
    /// `source`: an address of this machine to come from.
    init(port: Int, reads: Bool = true, from source: String? = nil, saying greeting: String = "") async throws {
        let collector = Collector(greeting)
        self.collector = collector
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: reads)
            .channelInitializer { $0.pipeline.addHandler(collector) }
        if let source { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0)) }
        channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
    }

    deinit { channel.close(promise: nil) }

    var received: String { collector.bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    func send(_ text: String) {
        channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    }

    /// Says nothing more, and listens on.
    func endHalf() { channel.close(mode: .output, promise: nil) }

    func close() { channel.close(promise: nil) }

    /// Sends the text and then one more character at each interval, for ever.
    func drip(_ text: String, every interval: TimeAmount) {
        send(text)
        let channel = channel
        let task = channel.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            channel.writeAndFlush(ByteBuffer(string: "a"), promise: nil)
        }
        channel.closeFuture.whenComplete { _ in task.cancel() }
    }

    /// Everything received by the time the server closed the connection; throws after two minutes.
    func untilClosed() async throws -> String {
        try await withDeadline { try await self.channel.closeFuture.get() }
        return received
    }

    func untilReceived(_ text: String, times: Int = 1) async throws {
        try await withDeadline {
            while self.received.ranges(of: text).count < times { try await pause() }
        }
    }
}

/// What curl printed.
func curl(_ arguments: String...) async throws -> String { try await curl(arguments) }

func curl(_ arguments: [String]) async throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["curl", "--silent", "--max-time", "120", "--noproxy", ""] + arguments
    let output = Pipe()
    process.standardOutput = output
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        process.terminationHandler = { _ in continuation.resume() }
        do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
}

final class TemporaryDirectory {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("saker-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A self-signed certificate for localhost and 127.0.0.1, and its key, in PEM.
struct TestCertificate {
    let certificate: String
    let key: String

    init(_ name: String) throws {
        let key = P256.Signing.PrivateKey()
        let subject = try DistinguishedName { CommonName(name) }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3600), notValidAfter: Date(timeIntervalSinceNow: 3600),
            issuer: subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([
                    .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                ])
            }, issuerPrivateKey: .init(key))
        self.certificate = try certificate.serializeAsPEM().pemString
        self.key = key.pemRepresentation
    }
}

/// Between two looks at what must come; ends when the deadline around the looks is over.
func pause() async throws {
    try Task.checkCancellation()
    await Task.yield()
}
