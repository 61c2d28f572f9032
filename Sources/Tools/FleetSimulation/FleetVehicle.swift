internal import NIOCore
internal import SecureLink
internal import TrackModel
internal import TrackWire

/// One vehicle on its connection above TLS. It logs in, sends its batches, and checks every answer.
///
/// It lives on its loop's thread and keeps little memory, because twenty thousand vehicles share one process.
final class FleetVehicle: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case connecting
        case loggingIn
        case open
        case closing
    }

    /// A batch that was sent and is not acknowledged yet.
    private struct Waiting {
        var lastSequence: UInt64
        var payloadBytes: Int
        var points: Int
        var since: NIODeadline
    }

    let number: Int
    /// The loop drops its vehicles when it closes.
    private let loop: FleetLoop
    private var context: ChannelHandlerContext?
    private var phase = Phase.connecting
    private var decoder = FrameDecoder()
    private let began = NIODeadline.now()
    private var windowBatches = 1
    private var windowBytes = Int.max
    /// The next frame of its drive.
    private var next = 0
    private var waiting: [Waiting] = []
    private var waitingBytes = 0
    private var storedThrough: UInt64 = 0
    private var lastSent = NIODeadline.now()
    /// Live batches that became due while the window was full.
    private var due: [NIODeadline] = []

    init(number: Int, loop: FleetLoop) {
        self.number = number
        self.loop = loop
    }

    var isOpen: Bool { phase == .open }
    /// All batches are acknowledged.
    var isDone: Bool { next == loop.batches && waiting.isEmpty }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is TLSPeer, phase == .connecting else { return }
        phase = .loggingIn
        send(loop.hello(of: self))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        loop.counts.bytesReceived += UInt64(bytes.readableBytes)
        decoder.append(bytes.readableBytesView)
        do {
            while phase != .closing, let frame = try decoder.next() { try take(WireCodec.decodeServer(frame)) }
        } catch let error as FleetError {
            fail(error)
        } catch {
            fail(FleetError(.answer, "\(error)"))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if phase != .closing { fail(FleetError(.connection, "the server closed the connection")) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if phase != .closing { fail(FleetError(.connection, "\(error)")) }
        context.close(promise: nil)
    }

    // MARK: Answers

    private func take(_ frame: ServerFrame) throws(FleetError) {
        switch (frame.message, phase) {
        case (.welcome(let welcome)?, .loggingIn): try take(welcome)
        case (.uploadAck(let acknowledgement)?, .open): try take(acknowledgement)
        case (.heartbeat?, .open): loop.counts.heartbeats += 1
        case (.push(let push)?, .open): take(push)
        case (.refused(let refused)?, _):
            throw FleetError(.refused, "login refused, \(refused.code): \(refused.reason)")
        case (.closing(let closing)?, _):
            throw FleetError(.connection, "the server closes, \(closing.code): \(closing.reason)")
        default: throw FleetError(.answer, "the server sent what nobody waits for")
        }
    }

    private func take(_ welcome: Welcome) throws(FleetError) {
        guard welcome.storedThrough == 0 else {
            throw FleetError(.answer, "a new stream is stored through \(welcome.storedThrough)")
        }
        guard loop.batches == 0 || Int(welcome.limits.batchPoints) >= loop.plan.batch else {
            throw FleetError(.plan, "the server takes at most \(welcome.limits.batchPoints) points a batch")
        }
        windowBatches = max(1, Int(welcome.limits.windowBatches))
        windowBytes = Int(welcome.limits.windowBytes)
        phase = .open
        loop.opened(heartbeatInterval: welcome.heartbeatInterval, took: .now() - began)
    }

    private func take(_ acknowledgement: UploadAck) throws(FleetError) {
        if let refused = acknowledgement.refused.first {
            throw FleetError(.refused, "point \(refused.sequence) was refused: \(refused.reason)")
        }
        let through = acknowledgement.storedThrough
        guard through > storedThrough, waiting.contains(where: { $0.lastSequence == through }) else {
            throw FleetError(.answer, "stored through \(through) is not the end of a batch that waits")
        }
        storedThrough = through
        let now = NIODeadline.now()
        let settled = waiting.prefix { $0.lastSequence <= through }
        for batch in settled {
            waitingBytes -= batch.payloadBytes
            loop.acknowledged(points: batch.points, after: now - batch.since)
        }
        waiting.removeFirst(settled.count)
        if loop.plan.mode == .backlog { pump() } else { sendDue() }
        if isDone { loop.vehicleIsDone() }
    }

    /// An agent acknowledges a push when it is on the disk; a simulated vehicle has none.
    private func take(_ push: Push) {
        loop.counts.pushes += 1
        var acknowledgement = PushAck()
        acknowledgement.ids = [push.id]
        send(ByteBuffer(bytes: WireCodec.encode(ClientFrame(.pushAck(acknowledgement)))))
    }

    // MARK: Sending

    /// Sends as much of the backlog as the window allows.
    func pump() {
        var hasWritten = false
        while next < loop.batches, mayUpload {
            upload(since: .now())
            hasWritten = true
        }
        if hasWritten { context?.flush() }
    }

    /// A live batch is due.
    func batchIsDue(at time: NIODeadline) {
        due.append(time)
        sendDue()
    }

    private func sendDue() {
        guard !due.isEmpty else { return }
        var sent = 0
        while sent < due.count, next < loop.batches, mayUpload {
            upload(since: due[sent])
            sent += 1
        }
        due.removeFirst(sent)
        if sent > 0 { context?.flush() }
    }

    private var mayUpload: Bool {
        guard phase == .open, waiting.count < windowBatches else { return false }
        return waiting.isEmpty || waitingBytes + loop.frame(next, of: self).payloadBytes <= windowBytes
    }

    private func upload(since: NIODeadline) {
        let frame = loop.frame(next, of: self)
        next += 1
        waiting.append(
            Waiting(
                lastSequence: frame.lastSequence, payloadBytes: frame.payloadBytes, points: frame.points,
                since: since))
        waitingBytes += frame.payloadBytes
        write(frame.bytes)
    }

    /// Sends a heartbeat if nothing was sent for that long.
    func heartbeat(ifSilentFor limit: TimeAmount, now: NIODeadline) {
        guard phase == .open, now - lastSent >= limit else { return }
        send(loop.heartbeat)
    }

    func goodbye() {
        guard phase != .closing else { return }
        let wasOpen = phase == .open
        phase = .closing
        if wasOpen { send(loop.goodbye) }
        context?.close(promise: nil)
    }

    private func send(_ bytes: ByteBuffer) {
        write(bytes)
        context?.flush()
    }

    private func write(_ bytes: ByteBuffer) {
        lastSent = .now()
        loop.counts.bytesSent += UInt64(bytes.readableBytes)
        context?.write(wrapOutboundOut(bytes), promise: nil)
    }

    private func fail(_ error: FleetError) {
        phase = .closing
        loop.fail(FleetError(error.code, "\(loop.plan.entity(of: number)): \(error.detail)"))
        context?.close(promise: nil)
    }
}
