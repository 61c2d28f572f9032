import Geodesy
import JSON
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import TrackAnalysis
import TrackModel
import TrackTestKit

@testable import RoadEngine
@testable import RoadMatching

/// A road engine behind a port of the kernel's choice that does what a test tells it.
final class ScriptedRoads: Sendable {
    enum Deed: Sendable {
        case reply(RoadReply)
        /// After some milliseconds.
        case late(RoadReply, Int64)
        /// Half of the answer, then the connection ends.
        case cut(RoadReply)
        case close
        /// Never answers.
        case hang
        /// Bytes that are not HTTP.
        case noise
        case redirect(String)
        /// Promises two gigabytes and writes as long as anybody reads.
        case endless
        /// A byte in a while, for ever.
        case trickle
    }

    private struct State {
        var requests: [RoadRequest] = []
        var connections = 0
        var written = 0
    }

    private let state = Mutex(State())
    private let channel: any Channel

    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }
    var requests: [RoadRequest] { state.withLock { $0.requests } }
    var connections: Int { state.withLock { $0.connections } }
    /// Bytes of endless answers.
    var written: Int { state.withLock { $0.written } }

    /// `deed` gets the number of the request, from 0, and the request.
    init(_ deed: @escaping @Sendable (Int, RoadRequest) -> Deed) async throws {
        let box = Box()
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Only the requests are read as HTTP: the answers are any bytes.
                    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
                    try channel.pipeline.syncOperations.addHandler(
                        Handler(box) { request in box.owner.withLock { $0 }?.take(request, deed) ?? .hang })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        box.owner.withLock { $0 = self }
    }

    convenience init(_ engine: MadeEngine = MadeEngine()) async throws {
        try await self.init { _, request in .reply(engine.reply(to: request)) }
    }

    func close() async { try? await channel.close() }

    private func take(_ request: RoadRequest, _ deed: (Int, RoadRequest) -> Deed) -> Deed {
        let number = state.withLock { state in
            state.requests.append(request)
            return state.requests.count - 1
        }
        return deed(number, request)
    }

    fileprivate func connected() { state.withLock { $0.connections += 1 } }
    fileprivate func wrote(_ bytes: Int) { state.withLock { $0.written += bytes } }

    fileprivate final class Box: Sendable {
        let owner = Mutex<ScriptedRoads?>(nil)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = ByteBuffer

        private let box: Box
        private let deed: @Sendable (RoadRequest) -> Deed
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(_ box: Box, _ deed: @escaping @Sendable (RoadRequest) -> Deed) { (self.box, self.deed) = (box, deed) }

        private var owner: ScriptedRoads? { box.owner.withLock { $0 } }

        func channelActive(context: ChannelHandlerContext) { owner?.connected() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, [])
            case .body(let bytes): body += Array(bytes.readableBytesView)
            case .end:
                guard let head else { return }
                let method: RoadRequest.Method = head.method == .POST ? .post : .get
                act(deed(RoadRequest(method: method, path: head.uri, body: body)), context)
            }
        }

        private func act(_ deed: Deed, _ context: ChannelHandlerContext) {
            switch deed {
            case .reply(let reply): write(Self.bytes(reply), context)
            case .late(let reply, let milliseconds):
                let place = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                context.eventLoop.scheduleTask(in: .milliseconds(milliseconds)) {
                    place.value.0.write(Self.bytes(reply), place.value.1)
                }
            case .cut(let reply):
                let bytes = Self.bytes(reply)
                write(Array(bytes.prefix(bytes.count / 2)), context)
                context.close(promise: nil)
            case .close: context.close(promise: nil)
            case .hang: break
            case .noise: write(Array("220 mail.example.net ESMTP\r\n\r\n".utf8), context)
            case .redirect(let place):
                write(Array("HTTP/1.1 302 Found\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n".utf8), context)
            case .endless:
                write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\n".utf8), context)
                pour(context, 65_536)
            case .trickle:
                write(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8), context)
                drip(context)
            }
        }

        private static func bytes(_ reply: RoadReply) -> [UInt8] {
            Array(
                "HTTP/1.1 \(reply.status) Whatever\r\nContent-Type: application/json\r\nContent-Length: \(reply.body.count)\r\n\r\n"
                    .utf8) + reply.body
        }

        private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }

        private func pour(_ context: ChannelHandlerContext, _ count: Int) {
            let place = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(repeating: 0x20, count: count))).whenSuccess {
                place.value.0.owner?.wrote(count)
                place.value.0.pour(place.value.1, count)
            }
        }

        private func drip(_ context: ChannelHandlerContext) {
            guard context.channel.isActive else { return }
            let place = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            write(Array("1\r\n \r\n".utf8), context)
            context.eventLoop.scheduleTask(in: .milliseconds(20)) { place.value.0.drip(place.value.1) }
        }
    }
}

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A clock that a test moves.
final class HandClock: Sendable {
    private let time = Mutex(MonotonicTime(milliseconds: 1_000_000))
    var now: MonotonicTime { time.withLock { $0 } }
    func move(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

/// A drive on the made road: 20 m/s, a sample every two seconds, 3 m beside the road.
func drive(_ count: Int, from start: Double = 30) -> [TrackSample] {
    (0..<count).map { number in
        let place = MadeRoad.place(start + Double(number) * 40, left: 3)
        return TrackSample(
            index: number, time: 1_767_600_000_000 + Int64(number) * 2000,
            latitudeE7: Int32((place.latitude * 1e7).rounded()),
            longitudeE7: Int32((place.longitude * 1e7).rounded()), speed: 2000)
    }
}

extension RoadClient {
    func context(_ owner: String = "1/van", _ mode: TravelMode = .driving) -> RoadRequestContext {
        RoadRequestContext(owner: owner, mode: mode, speedCap: 200 / 3.6, deadlines: deadlines(.usual))
    }

    /// The state after matching a drive.
    func state(_ count: Int = 100, _ owner: String = "1/van") async -> RoadsState {
        await match(drive(count), context(owner)).state
    }
}
