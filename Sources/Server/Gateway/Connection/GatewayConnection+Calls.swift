import NIOCore
import Synchronization
import TrackWire

// Web API requests that come through a device's connection.
extension GatewayConnection {
    func take(_ call: Call, in session: OpenSession) {
        guard let handler = core.callHandler else {
            return refuse(call.id, 240, "calls are not offered over this connection")
        }
        let bytes = call.parameters.reduce(call.path.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard bytes <= core.limits.callBytes else {
            return refuse(call.id, 10, "a call has at most \(core.limits.callBytes) bytes, this one \(bytes)")
        }
        guard core.callsAtWork.add(1, ordering: .relaxed).newValue <= core.limits.callsOfAll else {
            core.callsAtWork.subtract(1, ordering: .relaxed)
            return refuse(call.id, 1, "the server is answering too many calls at this moment: try again")
        }
        window.called()
        let number = nextTask
        calls[number] = context?.eventLoop.assumeIsolated().scheduleTask(in: core.deadlines.call) {
            self.giveUp(call.id, number)
        }
        let (service, entity, core) = (session.rules.service, session.rules.entity, core)
        start { () async -> @Sendable (GatewayConnection) -> Void in
            let (status, json) = await handler(service, entity, call.path, call.parameters)
            core.callsAtWork.subtract(1, ordering: .relaxed)
            return { connection in
                // Given up before, or the connection is gone.
                guard let deadline = connection.calls.removeValue(forKey: number) else { return }
                deadline.cancel()
                connection.settle { $0.answer(call.id, status, json) }
            }
        }
    }

    /// The handler took too long: its answer is no longer waited for, and nothing is held up by it.
    private func giveUp(_ id: UInt64, _ number: UInt64) {
        calls[number] = nil
        tasks[number]?.cancel()
        let seconds = core.deadlines.call.nanoseconds / 1_000_000_000
        settle { $0.refuse(id, 1, "no answer within \(seconds) s: ask for less, with page_size or a shorter time") }
    }

    private func settle(_ tell: (GatewayConnection) -> Void) {
        window.answered()
        guard case .open = phase else { return }
        tell(self)
        resume()
    }

    /// The reason holds nothing that JSON would have to escape.
    private func refuse(_ id: UInt64, _ status: Int32, _ reason: String) {
        answer(id, status, #"{"status":\#(status),"message":"\#(reason)"}"#)
    }

    private func answer(_ id: UInt64, _ status: Int32, _ json: String) {
        // The other fields take at most 32 bytes.
        guard json.utf8.count <= WireLimits.frameBytes - 32 else {
            let reason = "the answer is too long for one frame: ask for less, with page_size or a shorter time"
            return refuse(id, 1, reason)
        }
        var reply = CallReply()
        reply.id = id
        reply.status = status
        reply.json = json
        send(ServerFrame(.callReply(reply)))
    }
}
