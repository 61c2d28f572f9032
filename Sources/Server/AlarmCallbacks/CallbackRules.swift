/// The numbers of callbacks, in milliseconds unless they say otherwise.
package enum CallbackRules {
    /// From one try in vain to the next.
    package static let retry: Int64 = 15_000
    /// From an alarm's first try to its last.
    package static let patience: Int64 = 600_000
    /// Most alarms of one request.
    package static let alarms = 100
    /// Services that are served at the same time.
    package static let services = 16
    /// Of these such whose URLs failed last: they take long, and the others must not wait for them.
    package static let failingServices = 8
    /// Services whose turn is considered in one look into the queue.
    package static let lookedAt = 10_000
    /// Requests for a service before the others have their turn.
    package static let requests = 20
    /// From one look into the queue to the next.
    package static let look: Int64 = 1000
    /// The longest that a request may take, to the end of its answer.
    package static let answer: Int64 = 10_000
    /// The longest that a claim holds: longer than a request takes. After the death of a server its alarms wait so long.
    package static let claim: Int64 = 20_000
    /// Bytes of an answer that are read.
    package static let answerBytes = 16_384
    /// Addresses of a name that are tried in one request.
    package static let addresses = 3
    /// Checks of URLs at the same time.
    package static let checks = 16
    /// Of these for one service.
    package static let checksOfService = 2
}
