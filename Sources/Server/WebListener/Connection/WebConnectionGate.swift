import ConnectionLimits
import NIOCore
import Synchronization

/// Who may be connected to one port.
final class WebConnectionGate: Sendable {
    private struct State {
        var table: ConnectionTable<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>
    private let counters: WebCounters

    init(_ limits: ConnectionTable<ObjectIdentifier>.Limits, counters: WebCounters) {
        state = Mutex(State(table: ConnectionTable(limits)))
        self.counters = counters
    }

    /// False when the connection must be closed at once. Another one may be told to go for it.
    func admit(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let address = ClientAddress.group(channel.remoteAddress)
        let (entrance, gone) = state.withLock { state in
            let entrance = state.table.enter(id, from: address)
            var gone: (any Channel)?
            if case .replacing(let other) = entrance { gone = state.channels.removeValue(forKey: other) }
            if case .refused = entrance { return (entrance, gone) }
            state.channels[id] = channel
            return (entrance, gone)
        }
        if case .refused(let limit) = entrance {
            counters.ended(limit == .connections ? .connections : .address)
            return false
        }
        gone?.triggerUserOutboundEvent(ConnectionGuard.Event.giveUp(.replaced), promise: nil)
        counters.opened()
        channel.closeFuture.whenComplete { [self] _ in
            counters.closed()
            state.withLock { state in
                state.table.leave(id)
                state.channels[id] = nil
            }
        }
        return true
    }

    func note(_ channel: any Channel, _ standing: ConnectionTable<ObjectIdentifier>.Standing) {
        state.withLock { $0.table.note(ObjectIdentifier(channel), standing) }
    }
}
