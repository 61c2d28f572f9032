import ConnectionLimits
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Carries out ``ConnectionTimeouts`` for one connection: the times, the bytes that it holds, its standing, `100 Continue`.
///
/// It is the handler behind the HTTP decoder. The first handler of the pipeline is its ``ArrivalMeter``, which counts the bytes
/// from the wire, and closes without a goodbye that the client may never read.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Sent down the pipeline to it.
    enum Event: Sendable {
        /// The body of the request will be read.
        case bodyWanted
        /// The request had a valid key.
        case keyShown
        /// Its answer is made, of so many bytes.
        case answerMade(bytes: Int)
        case giveUp(ConnectionTimeouts.Reason)
    }

    /// The request ended before its end.
    struct Incomplete: Error {}

    private let gate: WebConnectionGate
    private let memory: RequestMemoryLimit
    private let counters: WebCounters
    private var timeouts: ConnectionTimeouts
    private var hasKey = false
    /// The client sends its body only after `100 Continue`.
    private var isExpecting = false
    /// The last answer is on its way, and the client may still be sending.
    private var isParting = false
    private var alarm: Scheduled<Void>?
    private var alarmTime = NIODeadline.distantFuture
    private var context: ChannelHandlerContext?
    var meter: ArrivalMeter?
    var line: RequestLineEscaper?

    init(
        _ limits: ConnectionTimeouts.Limits, gate: WebConnectionGate, memory: RequestMemoryLimit, counters: WebCounters
    ) {
        self.gate = gate
        self.memory = memory
        self.counters = counters
        timeouts = ConnectionTimeouts(limits, at: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        memory.enter(context.channel)
        watchTheClock()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        memory.leave(context.channel)
        alarm?.cancel()
        alarm = nil
        meter = nil
        line = nil
        self.context = nil
    }

    // MARK: In

    /// Bytes came from the wire. False: the connection must drop them.
    func arrived(_ bytes: Int) -> Bool {
        guard !timeouts.isOver, let context else { return false }
        // Bytes that are only skipped take no memory.
        guard timeouts.wait != .rest else { return true }
        if !memory.take(bytes, for: context.channel) { perform(timeouts.giveUp(.memory)) }
        return !timeouts.isOver
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !timeouts.isOver else { return }
        var part = unwrapInboundIn(data)
        switch part {
        case .head(var head):
            line?.requestBegan()
            head.uri = OriginForm.of(head.uri)
            part = .head(head)
            perform(timeouts.head(at: .now()))
            guard !timeouts.isOver else { return }
            isExpecting =
                head.version == .http1_1
                && head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
        case .body: isExpecting = false
        case .end:
            isExpecting = false
            line?.requestEnded()
            timeouts.end(at: .now())
        }
        settle()
        context.fireChannelRead(wrapInboundOut(part))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Half a body must not be taken for a whole one.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, !timeouts.isComplete {
            context.fireErrorCaught(Incomplete())
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !timeouts.isComplete { context.fireErrorCaught(Incomplete()) }
        context.fireChannelInactive()
    }

    // MARK: Out

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !timeouts.isOver else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let taken = promise ?? context.eventLoop.makePromise()
        timeouts.wrote(at: .now())
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        taken.futureResult.whenComplete { _ in bound.value.took() }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // Its body was not asked for, and what comes next is not known to be it.
            if isExpecting, timeouts.isNextIncomplete { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            context.write(wrapOutboundOut(.head(head)), promise: taken)
        case .body: context.write(data, promise: taken)
        case .end: end(context, data, taken)
        }
        settle()
    }

    private func end(_ context: ChannelHandlerContext, _ data: NIOAny, _ promise: EventLoopPromise<Void>) {
        let isLast = isExpecting && timeouts.isNextIncomplete
        memory.giveBack(1, of: timeouts.requests, for: context.channel)
        timeouts.answered(at: .now())
        context.write(data, promise: promise)
        if isLast { part(context, after: promise.futureResult) }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard isParting, mode == .all else { return context.close(mode: mode, promise: promise) }
        // Nothing waits for the request any more. The client has its time to read the answer.
        context.channel.closeFuture.cascade(to: promise)
    }

    private func took() {
        timeouts.took(at: .now())
        settle()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let event = event as? Event else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        switch event {
        case .bodyWanted:
            guard isExpecting, timeouts.isNextIncomplete, !timeouts.isOver else { break }
            isExpecting = false
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        case .keyShown:
            hasKey = true
            if !memory.becameKnown(context.channel) { perform(timeouts.giveUp(.memory)) }
        case .answerMade(let bytes):
            if !memory.take(bytes, for: context.channel) { perform(timeouts.giveUp(.memory)) }
        case .giveUp(let reason):
            // The client may have been asked for its body while the refusal was on its way.
            if !timeouts.isOver { perform(timeouts.giveUp(reason)) }
        }
        settle()
        promise?.succeed()
    }

    // MARK: Ends

    private func perform(_ action: ConnectionTimeouts.Action?) {
        guard let action, let context else { return }
        switch action {
        case .close(let reason):
            if !timeouts.isOver { counters.ended(reason) }
            timeouts.refused(at: .now())
            memory.leave(context.channel)
            meter?.close()
        case .refuse(let reason):
            counters.ended(reason)
            refuse(reason, context)
        }
    }

    private func refuse(_ reason: ConnectionTimeouts.Reason, _ context: ChannelHandlerContext) {
        let isLate = reason == .time
        let text =
            isLate
            ? #"{"status":1,"message":"the request did not come in time"}"#
            : #"{"status":1,"message":"the server holds too many requests now: try again later"}"#
        var head = HTTPResponseHead(version: .http1_1, status: isLate ? .requestTimeout : .serviceUnavailable)
        head.headers.add(name: "Content-Type", value: "application/json; charset=utf-8")
        head.headers.add(name: "Content-Length", value: String(text.utf8.count))
        head.headers.add(name: "Connection", value: "close")
        if !isLate { head.headers.add(name: "Retry-After", value: "30") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.write(wrapOutboundOut(.end(nil)), promise: sent)
        part(context, after: sent.futureResult)
    }

    /// Ends this half. A client that still sends would lose the last answer if its half ended too.
    private func part(_ context: ChannelHandlerContext, after sent: EventLoopFuture<Void>) {
        timeouts.refused(at: .now())
        memory.leave(context.channel)
        isParting = true
        // The bytes of the request are freed.
        if !timeouts.isComplete { context.fireErrorCaught(Incomplete()) }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        sent.whenComplete { _ in bound.value.close(mode: .output, promise: nil) }
        context.flush()
        settle()
    }

    // MARK: Time and standing

    private func settle() {
        guard let context else { return }
        gate.note(context.channel, !hasKey ? .stranger : timeouts.wait == .request ? .resting : .busy)
        watchTheClock()
    }

    /// One timer, which is set again when it fires too early: most deadlines only move on.
    private func watchTheClock() {
        guard let context else { return }
        let deadline = timeouts.deadline
        if alarm != nil, alarmTime <= deadline { return }
        alarm?.cancel()
        alarmTime = deadline
        alarm = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            alarm = nil
            if let action = timeouts.check(at: .now()) { perform(action) }
            settle()
        }
    }
}

/// The first handler of a connection's pipeline, before TLS: counts the bytes from the wire for its ``ConnectionGuard``, and
/// ends the connection without the goodbye of TLS, which would wait for the client.
final class ArrivalMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let owner: ConnectionGuard
    private var context: ChannelHandlerContext?

    init(_ owner: ConnectionGuard) {
        self.owner = owner
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard owner.arrived(unwrapInboundIn(data).readableBytes) else { return }
        context.fireChannelRead(data)
    }

    func close() { context?.close(promise: nil) }
}

/// A web connection with its limits around Hummingbird's own channel.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    /// The connection is one too many.
    struct ConnectionRefused: Error {}

    /// Bytes of one reading from the wire: little, because all that it holds is decoded at once.
    private static var readBytes: Int { 16_384 }

    let base: Base
    let limits: ConnectionTimeouts.Limits
    let gate: WebConnectionGate
    let memory: RequestMemoryLimit
    let counters: WebCounters

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        do {
            guard gate.admit(channel) else { throw ConnectionRefused() }
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2048, maximum: Self.readBytes))
            let connectionGuard = ConnectionGuard(limits, gate: gate, memory: memory, counters: counters)
            let meter = ArrivalMeter(connectionGuard)
            try channel.pipeline.syncOperations.addHandler(meter)
            connectionGuard.meter = meter
            let bound = NIOLoopBound(connectionGuard, eventLoop: channel.eventLoop)
            return base.setup(channel: channel, logger: logger).map { value in
                Self.place(bound.value, in: channel)
                return value
            }
        } catch {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    /// The value of the base must be handled, whatever becomes of the connection: so there is no other way out of here.
    private static func place(_ connectionGuard: ConnectionGuard, in channel: any Channel) {
        do {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let line = RequestLineEscaper()
            try pipeline.addHandler(line, position: .before(decoder))
            connectionGuard.line = line
            try pipeline.addHandler(connectionGuard, position: .after(decoder))
        } catch {
            channel.close(promise: nil)
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
