internal import AgentLogic
internal import TrackModel
internal import TrackWire

extension LinkShell {
    /// Why the link is to end.
    enum Ending {
        /// Somebody stops the service. The last that the server hears is that the vehicle does not gather any more.
        case service
        /// The process ends: what the server has heard stays true.
        case process
    }

    enum Effect {
        /// The state of the connection changed.
        case stateChanged(LinkState)
        /// After a stop: the link is off.
        case finished(isDrained: Bool)
        /// Tell the ring what the server has. ``LinkShell/cacheConfirmed(_:_:)`` is the answer.
        case confirm(LinkID, storedThrough: UInt64, stream: StreamID?)
        /// Read a batch. ``LinkShell/batchRead(_:_:)`` is the answer.
        case read(ReadID, BatchLimits)
        /// The server owns everything of the stream through this number.
        case acknowledge(through: UInt64, stream: StreamID)
        /// Wait until the points that are on their way stand in the ring. ``LinkShell/cacheSettled(before:isDone:)`` is
        /// the answer.
        case settleCache(before: MonotonicTime)
        /// The login succeeded: the service's track columns and the server's clock.
        case welcomed([TrackColumn], serverTime: Int64)
        /// The server answered a request.
        case replied(UInt64, RequestBook.Kind, ServerFrame.OneOf_Message)
        /// The server sent a push, over the link of this entity.
        case pushed(Push, entity: String)
        /// The login succeeded. `takesFences`: the server sends fences and takes reports. `acknowledged`: what the server had
        /// owned of the stream before.
        case opened(takesFences: Bool, storedThrough: UInt64, acknowledged: UInt64, stream: StreamID?)
        /// The server sent a part of the fences of this link's entity.
        case fenceUpdate(FenceUpdate)
        /// The server answered a report of alarms.
        case reportAnswered(AlarmUploadAck)
        /// The server will never store these points.
        case refusedPoints(Set<UInt64>, stream: StreamID)
    }
}
