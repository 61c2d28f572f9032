import AlarmCallbacks
import Synchronization
import TrackModel
import TrackStore

/// Asks an operator's URL whether it takes alarms, before it is set.
final class CallbackCheck: Sendable {
    private let client: CallbackClient
    private let underWay = Mutex<[ServiceID: Int]>([:])

    init(_ client: CallbackClient) { self.client = client }

    /// Why the URL cannot be set, for whoever sets it; nil when it can.
    func problem(with target: CallbackTarget, of service: ServiceID) async -> String? {
        do throws(CallbackURL.Problem) {
            _ = try CallbackURL(target.url)
        } catch {
            return "url: \(error)"
        }
        let isFree = underWay.withLock { counts in
            guard counts.values.reduce(0, +) < CallbackRules.checks,
                counts[service, default: 0] < CallbackRules.checksOfService
            else { return false }
            counts[service, default: 0] += 1
            return true
        }
        guard isFree else { return "url: too many URLs are being checked now: try again" }
        defer {
            underWay.withLock { counts in
                let left = counts[service, default: 0] - 1
                counts[service] = left > 0 ? left : nil
            }
        }
        switch await client.send(CallbackBody.check(of: service), to: target, of: service) {
        case .taken: return nil
        case .failed(let reason): return "url: \(reason)"
        }
    }
}
