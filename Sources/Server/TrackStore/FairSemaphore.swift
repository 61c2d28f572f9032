import Synchronization

/// Lets a number of callers in at a time. Those who wait have turns: one who asks a thousand times waits behind those who ask
/// once. Callers of one owner keep their order.
package final class FairSemaphore: Sendable {
    private struct Caller: Sendable {
        let owner: WorkOwner?
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var free: Int
        var inside: [WorkOwner: Int] = [:]
        var waiting = FairQueue<WorkOwner?, Caller>()
    }

    /// How many of one owner may be inside. The server itself (nil) has no bound.
    private let ofOwner: Int
    private let state: Mutex<State>

    package init(_ count: Int = 1, ofOwner: Int = .max) {
        self.ofOwner = max(1, ofOwner)
        state = Mutex(State(free: max(1, count)))
    }

    /// Returns when it is the caller's turn; every call needs one ``leave(_:)``. A task that was cancelled waits as well: its
    /// turn comes soon.
    package func enter(_ owner: WorkOwner? = nil) async {
        // When there is room, whoever waits may not come in now.
        let isInside = state.withLock { state in
            guard state.free > 0, mayEnter(owner, state) else { return false }
            enter(owner, &state)
            return true
        }
        guard !isInside else { return }
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiting.add(Caller(owner: owner, continuation: continuation), of: owner)
                admit(&state)
            }
        }
    }

    package func leave(_ owner: WorkOwner? = nil) {
        state.withLock { state in
            state.free += 1
            if let owner { state.inside[owner] = state.inside[owner].flatMap { $0 > 1 ? $0 - 1 : nil } }
            admit(&state)
        }
    }

    private func mayEnter(_ owner: WorkOwner?, _ state: State) -> Bool {
        owner.map { state.inside[$0, default: 0] < ofOwner } ?? true
    }

    private func enter(_ owner: WorkOwner?, _ state: inout State) {
        state.free -= 1
        if let owner { state.inside[owner, default: 0] += 1 }
    }

    private func admit(_ state: inout State) {
        while state.free > 0, let caller = next(&state) {
            enter(caller.owner, &state)
            caller.continuation.resume()
        }
    }

    private func next(_ state: inout State) -> Caller? {
        let inside = state.inside
        return state.waiting.next { owner in owner.map { inside[$0, default: 0] < ofOwner } ?? true }
    }
}
