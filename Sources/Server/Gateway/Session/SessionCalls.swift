import JSON
import TrackModel
import TrackWire

/// The calls of one session that were not answered yet, and their deadlines.
struct SessionCalls: Hashable {
    private struct Entry: Hashable {
        /// The agent's.
        let id: UInt64
        /// Nil until the call is at work.
        var deadline: MonotonicTime?
    }

    private let limit: Int
    private let bytes: Int
    /// Milliseconds from a call to its answer.
    private let timeout: Int64
    /// Whether calls are answered at all.
    private let isOffered: Bool
    /// By numbers of the session's own: an agent may use one twice.
    private var entries: [UInt64: Entry] = [:]
    private var last: UInt64 = 0

    init(_ limits: GatewayLimits, timeout: Duration, isOffered: Bool) {
        limit = limits.calls
        bytes = limits.callBytes
        self.timeout = timeout.milliseconds
        self.isOffered = isOffered
    }

    /// No further call is read.
    var isFull: Bool { entries.count >= limit }
    var isEmpty: Bool { entries.isEmpty }

    mutating func received(_ call: Call) -> [SessionMachine.Action] {
        guard isOffered else { return refuse(call.id, 240, "calls are not offered over this connection") }
        let count = call.parameters.reduce(call.path.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard count <= bytes else {
            return refuse(call.id, 10, "a call has at most \(bytes) bytes, this one \(count)")
        }
        last += 1
        entries[last] = Entry(id: call.id, deadline: nil)
        return [.startCall(last, call)]
    }

    mutating func started(_ number: UInt64, _ isStarted: Bool, now: MonotonicTime) -> [SessionMachine.Action] {
        guard let entry = entries[number] else { return isStarted ? [.cancelCall(number)] : [] }
        guard isStarted else {
            entries[number] = nil
            return refuse(entry.id, 1, "the server is answering too many calls at this moment: try again")
        }
        entries[number]?.deadline = now + timeout
        return [.setTimer(.call(number), milliseconds: timeout)]
    }

    mutating func answered(_ number: UInt64, status: Int32, json: String) -> [SessionMachine.Action] {
        // It may be given up.
        guard let entry = entries.removeValue(forKey: number) else { return [] }
        return [.cancelTimer(.call(number))] + answer(entry.id, status, json)
    }

    /// The call took too long: its answer is no longer waited for, and nothing is held up by it.
    mutating func timerFired(_ number: UInt64, now: MonotonicTime) -> [SessionMachine.Action] {
        guard let entry = entries[number], let deadline = entry.deadline else { return [] }
        guard now >= deadline else { return [.setTimer(.call(number), milliseconds: deadline - now)] }
        entries[number] = nil
        let reason = "no answer within \(timeout / 1000) s: ask for less, with page_size or a shorter time"
        return [.cancelCall(number)] + refuse(entry.id, 1, reason)
    }

    private func refuse(_ id: UInt64, _ status: Int32, _ reason: String) -> [SessionMachine.Action] {
        answer(id, status, "\(JSONValue.object(["status": .integer(Int64(status)), "message": .string(reason)]))")
    }

    private func answer(_ id: UInt64, _ status: Int32, _ json: String) -> [SessionMachine.Action] {
        // The other fields take at most 32 bytes.
        guard json.utf8.count <= WireLimits.frameBytes - 32 else {
            return refuse(
                id, 1, "the answer is too long for one frame: ask for less, with page_size or a shorter time")
        }
        var reply = CallReply()
        reply.id = id
        reply.status = status
        reply.json = json
        return [.send(ServerFrame(.callReply(reply)))]
    }
}
