import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// A web connection with its limits around Hummingbird's own channel.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    /// The connection is one too many.
    struct TurnedAway: Error {}

    /// Bytes of one reading from the wire: little, because all that it holds is decoded at once.
    private static var readBytes: Int { 16_384 }

    let base: Base
    let limits: ConnectionWatch.Limits
    let door: WebDoor
    let memory: RequestMemory
    let counters: WebCounters

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        do {
            guard door.admit(channel) else { throw TurnedAway() }
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2048, maximum: Self.readBytes))
            let keeper = ConnectionGuard(limits, door: door, memory: memory, counters: counters)
            let meter = ArrivalMeter(keeper)
            try channel.pipeline.syncOperations.addHandler(meter)
            keeper.meter = meter
            let bound = NIOLoopBound(keeper, eventLoop: channel.eventLoop)
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
    private static func place(_ keeper: ConnectionGuard, in channel: any Channel) {
        do {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let line = RequestLineEscaper()
            try pipeline.addHandler(line, position: .before(decoder))
            keeper.line = line
            try pipeline.addHandler(keeper, position: .after(decoder))
        } catch {
            channel.close(promise: nil)
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
