import ConnectionLimits
import Enrolment
import Logging
import Synchronization
import Systemd
import TrackModel
import TrackStore

/// The lines of the journal about claims and renewals. Each new device has its line; what anybody can repeat has a budget for each
/// address (of a /64 network with IPv6), and one for all of them.
final class EnrolmentJournal: Sendable {
    /// Whom a line is about. The texts have no control characters.
    struct Subject {
        var address: String
        var serial: String?
        var entity: String?
        var token: Int64?
        var device: DeviceID?
        var service: ServiceID?
        /// Why it is refused, when whoever asks must not be told.
        var reason: String?

        init(address: String) { self.address = address }

        mutating func note(_ device: DeviceRecord) {
            (self.device, service, entity) = (device.id, device.service, device.entity)
            token = token ?? device.claim?.token
            serial = serial ?? device.claim?.serial
        }
    }

    private let logger: Logger
    private let clock: @Sendable () -> MonotonicTime
    private let strangers = Mutex(SenderLines(SenderLines.Limits(burstOfAll: 300, intervalOfAll: 200)))
    private let storeBudget = Mutex(LineBudget(burst: 1, interval: 60_000))

    init(logger: Logger, clock: @escaping @Sendable () -> MonotonicTime) {
        self.logger = logger
        self.clock = clock
    }

    /// `isNew`: something was made by it, so the line is written in any case.
    func note(
        _ outcome: EnrolmentCounters.Outcome, _ about: Subject, isNew: Bool = false, reason: String? = nil
    ) {
        let time = clock()
        let sender = ClientAddress.group(ofText: about.address)
        guard let skipped = strangers.withLock({ $0.line(of: sender, at: time, isCertain: isNew) }) else { return }
        let metadata: [String: String] = [
            "outcome": outcome.name, "address": about.address, "device": about.device?.description ?? "",
            "service": about.service.map { "\($0.rawValue)" } ?? "", "entity": about.entity ?? "",
            "serial": about.serial ?? "", "token": about.token.map { "\($0)" } ?? "", "reason": reason ?? "",
            "skipped": skipped > 0 ? "\(skipped)" : "", "message_id": "\(MessageID.deviceClaim)",
        ]
        write(outcome, metadata.compactMapValues { $0.isEmpty ? nil : "\($0)" })
    }

    private func write(_ outcome: EnrolmentCounters.Outcome, _ metadata: Logger.Metadata) {
        if case .refused = outcome {
            logger.warning("a claim of a vehicle is refused", metadata: metadata)
        } else {
            logger.notice("a vehicle claims its identity", metadata: metadata)
        }
    }

    /// Says how many lines were left out of addresses that have been silent since. Call it now and then.
    func tellLeftOut() {
        let time = clock()
        for (sender, lines) in strangers.withLock({ $0.takeLeftOut(at: time) }) {
            logger.notice(
                "lines about claims of a sender were left out",
                metadata: ["sender": "\(sender ?? "others")", "skipped": "\(lines)"])
        }
    }

    func storeFailed(_ error: TrackStoreError) {
        let time = clock()
        guard storeBudget.withLock({ $0.line(at: time) }) != nil else { return }
        logger.error("the store takes no claims", metadata: ["reason": "\(error.detail)"])
    }
}
