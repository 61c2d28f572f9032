import AlarmCallbacks
import Synchronization
import TrackModel
import TrackStore

/// Asks an operator's URL whether it takes alarms, before it is set.
final class CallbackCheck: Sendable {
    private let client: CallbackClient
    private let underWay = Mutex(0)

    init(_ client: CallbackClient) { self.client = client }

    /// Why the URL cannot be set, for whoever sets it; nil when it can.
    func problem(with target: CallbackTarget, of service: ServiceID) async -> String? {
        do throws(CallbackURL.Problem) {
            _ = try CallbackURL(target.url)
        } catch {
            return "url: \(error)"
        }
        let isFree = underWay.withLock { count in
            guard count < CallbackRules.checks else { return false }
            count += 1
            return true
        }
        guard isFree else { return "url: too many URLs are being checked now: try again" }
        defer { underWay.withLock { $0 -= 1 } }
        switch await client.send(CallbackBody.check(of: service), to: target) {
        case .taken: return nil
        case .failed(let reason): return "url: \(reason)"
        }
    }
}
