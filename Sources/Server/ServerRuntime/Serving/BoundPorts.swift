import ConfigurationFile
import JSON
import Synchronization

/// The ports that were asked for, as they become known; the server is ready when all of them listen.
final class BoundPorts: Sendable {
    enum Name: String, CaseIterable, Sendable {
        case device, http, https, metrics
    }

    private struct State {
        var expected: Set<Name>
        var ports: [Name: Int] = [:]
        var isComplete: Bool { expected.isSubset(of: ports.keys) }
        var waiting: CheckedContinuation<[Name: Int], Never>?
    }

    private let state: Mutex<State>

    init(expected: Set<Name>) {
        state = Mutex(State(expected: expected))
    }

    func note(_ name: Name, _ port: Int) {
        let waiting: CheckedContinuation<[Name: Int], Never>? = state.withLock { state in
            state.ports[name] = port
            return state.isComplete ? state.waiting.take() : nil
        }
        waiting?.resume(returning: state.withLock { $0.ports })
    }

    /// The server is ready without this one.
    func doWithout(_ name: Name) {
        let waiting: CheckedContinuation<[Name: Int], Never>? = state.withLock { state in
            state.expected.remove(name)
            return state.isComplete ? state.waiting.take() : nil
        }
        waiting?.resume(returning: state.withLock { $0.ports })
    }

    /// Gives up waiting: what is known by then is returned.
    func abandon() {
        let waiting: CheckedContinuation<[Name: Int], Never>? = state.withLock { $0.waiting.take() }
        waiting?.resume(returning: state.withLock { $0.ports })
    }

    /// Returns when all listen; nil when the task is cancelled first.
    func all() async -> [Name: Int]? {
        let ports = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<[Name: Int], Never>) in
                let ports: [Name: Int]? = state.withLock { state in
                    if state.isComplete || Task.isCancelled { return state.ports }
                    state.waiting = continuation
                    return nil
                }
                if let ports { continuation.resume(returning: ports) }
            }
        } onCancel: {
            abandon()
        }
        return state.withLock { $0.expected }.isSubset(of: ports.keys) ? ports : nil
    }

    /// `{"device":7443,"https":8443}`, for scripts that let the kernel choose.
    static func json(_ ports: [Name: Int]) -> String {
        let members = ports.map { ($0.key.rawValue, JSONValue.integer(Int64($0.value))) }
        return "\(JSONValue.object(Dictionary(uniqueKeysWithValues: members)))\n"
    }
}
