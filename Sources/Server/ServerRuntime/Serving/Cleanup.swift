import ConfigurationFile
import FoundationEssentials
import Glibc
import Logging
import ServiceLifecycle
import Systemd
import TrackModel
import TrackStore

/// Merges small chunks of the store, one round after another, while the server runs.
struct Merging: Service {
    /// Entities looked at in one transaction: writers wait no longer than it takes.
    private static let entitiesAtOnce = 64

    let store: any TrackStore
    let interval: Duration
    let now: @Sendable () -> Timestamp
    let logger: Logger
    let record: MergeRecord

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try await Task.sleep(for: interval)
                await round()
            }
        }
    }

    private func round() async {
        let began = ContinuousClock.now
        var replaced = 0
        var hasFailed = false
        do throws(TrackStoreError) {
            while !Task.isCancelled {
                let count = try await store.mergeChunks(limit: Self.entitiesAtOnce, at: now())
                if count == 0 { break }
                replaced += count
            }
        } catch {
            // The end of the server cuts a reading short.
            hasFailed = !Task.isCancelled
            if hasFailed {
                logger.warning(
                    "merging failed and is tried again later",
                    metadata: ["reason": "\(error.detail)"])
            }
        }
        // A round that was cut short has not seen everything.
        let isWhole = !hasFailed && !Task.isCancelled
        record.ended(
            at: isWhole ? Date().timeIntervalSince1970 : nil, after: ContinuousClock.now - began, replaced: replaced,
            hasFailed: hasFailed)
        if replaced > 0 { logger.debug("Small chunks were merged", metadata: ["replaced": "\(replaced)"]) }
    }
}

/// Says in time that the certificate is about to end, or that it is not valid yet.
struct CertificateExpiryCheck: RepeatedWork {
    static let pause = Duration.seconds(86_400)
    /// Days before the end from which on it is said, once a day.
    static let warningDays = 30

    let certificateFile: String
    let logger: Logger

    func round() { look(at: Date()) }

    func look(at now: Date) {
        guard let text = try? TextFile.read(certificateFile), let details = try? CertificateMaker.details(of: text)
        else { return }
        let days = Int((details.end.timeIntervalSince(now) / 86_400).rounded(.down))
        let isEarly = details.begin > now
        guard isEarly || days < Self.warningDays else { return }
        logger.warning(
            isEarly
                ? "the server's certificate is not valid yet: it, or this clock, is wrong"
                : days < 0 ? "the server's certificate has ended" : "the server's certificate ends soon",
            metadata: [
                "file": "\(certificateFile)", "days": "\(days)", "message_id": "\(MessageID.certificateEnding)",
                "advice": isEarly
                    ? "is the clock right? date"
                    : "renew it: saker-server certificate renew; the new one is used by itself",
            ])
    }
}

/// Removes pushes and alarms that are older than the history, and change notices of fences that nobody needs any more.
struct PushCleanup: RepeatedWork {
    static let pause = Duration.seconds(3600)
    /// Rows of one transaction: writers wait no longer than it takes.
    private static let atOnce = 10_000

    let store: any TrackStore
    let now: @Sendable () -> Timestamp
    let logger: Logger
    /// Commands of other processes write too.
    var writing = StepwiseWriting()

    func round() async {
        let now = now()
        var writing = writing
        let (pushes, alarms) = (
            now.adding(milliseconds: -PushRules.history), now.adding(milliseconds: -FenceRules.history)
        )
        let notices = now.adding(milliseconds: -FenceRules.noticesKept)
        do throws(TrackStoreError) {
            try await repeated(&writing) { () async throws(TrackStoreError) in
                try await store.removePushes(before: pushes, limit: Self.atOnce)
            }
            try await repeated(&writing) { () async throws(TrackStoreError) in
                try await store.removeAlarms(before: alarms, limit: Self.atOnce)
            }
            try await repeated(&writing) { () async throws(TrackStoreError) in
                try await store.removeFenceNotices(before: notices, limit: Self.atOnce)
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning(
                "old pushes, alarms or notices of changed fences could not be removed, which is tried again later",
                metadata: ["reason": "\(error.detail)"])
        }
    }

    /// `step`: removes rows, and returns how many.
    private func repeated(
        _ writing: inout StepwiseWriting, _ step: () async throws(TrackStoreError) -> Int
    ) async throws(TrackStoreError) {
        while !Task.isCancelled, try await writing.step(step) > 0 {}
    }
}

/// Work that the server does at its start and then again and again, until it is asked to stop.
protocol RepeatedWork: Service {
    /// From the end of one round to the beginning of the next.
    static var pause: Duration { get }

    func round() async
}

extension RepeatedWork {
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await round()
                try await Task.sleep(for: Self.pause)
            }
        }
    }
}

/// Renews the server's certificate in time, when the key of its authority is there. Nobody has to remember it.
struct CertificateRenewing: RepeatedWork {
    static let pause = Duration.seconds(6 * 3600)

    let configuration: ServerConfiguration
    /// By a clock that is years ahead, every vehicle would refuse the new certificate.
    let time: TrustedTime
    let logger: Logger

    func round() {
        guard let now = time.now else { return }
        look(at: Date(timeIntervalSince1970: Double(now.milliseconds) / 1000))
    }

    /// The listeners take the new certificate by themselves, as one that a person has put there.
    private func look(at now: Date) {
        do throws(ServerError) {
            guard let end = try CertificateRenewal.renewIfDue(configuration, at: now) else { return }
            logger.notice(
                "the server has renewed its certificate",
                metadata: [
                    "file": "\(configuration.tls.certificate)", "end": "\(end)",
                    "message_id": "\(MessageID.certificateRenewed)",
                ])
        } catch {
            logger.warning(
                "the server cannot renew its certificate, and tries again later",
                metadata: ["file": "\(configuration.tls.certificate)", "reason": "\(error.detail)"])
        }
    }
}

/// Removes the points that a service keeps no longer, once an hour.
struct PointRetention: RepeatedWork {
    static let pause = Duration.seconds(3600)
    /// Chunks that one transaction looks at: writers wait no longer than it takes.
    private static let chunksAtOnce = 256
    private static let millisecondsOfDay: Int64 = 86_400_000

    let store: any TrackStore
    /// Days, for services that say nothing else; nil: for ever.
    let standardDays: Int?
    /// A clock that is ahead would remove what must stay, and nobody could bring it back.
    let time: TrustedTime
    let logger: Logger
    /// Commands of other processes write too.
    var writing = StepwiseWriting()

    func round() async {
        guard let today = time.noLaterThanNow else { return }
        var writing = writing
        do throws(TrackStoreError) {
            for service in try await store.services() {
                guard let days = service.retention.days(standard: standardDays) else { continue }
                let border = today.adding(milliseconds: -Int64(days) * Self.millisecondsOfDay)
                var removed = 0
                var cursor: RemovalCursor?
                repeat {
                    let step = try await writing.step { () async throws(TrackStoreError) in
                        try await store.removePoints(
                            of: service.id, before: border, after: cursor, limit: Self.chunksAtOnce)
                    }
                    removed += step.removed
                    cursor = step.cursor
                } while cursor != nil && !Task.isCancelled
                guard removed > 0 else { continue }
                logger.info(
                    "points were removed, because the service keeps them no longer",
                    metadata: ["service": "\(service.id.rawValue)", "points": "\(removed)", "days": "\(days)"])
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning(
                "old points could not be removed, which is tried again later", metadata: ["reason": "\(error.detail)"])
        }
    }
}

/// Removes the copies of the store from before migrations when nobody is likely to go back to them.
struct CopyCleanup: RepeatedWork {
    static let pause = Duration.seconds(3600)
    /// Days for which a copy is kept.
    static let days: Int64 = 30

    let store: ServerConfiguration.Store
    /// A clock that is ahead would remove a copy of yesterday, and the way back with it.
    let time: TrustedTime
    let logger: Logger

    func round() {
        guard let now = time.noLaterThanNow else { return }
        for copy in StoreFactory.migrationCopies(of: store) {
            guard let status = FileStatus(of: copy),
                now.milliseconds - status.modified / 1_000_000 > Self.days * 86_400_000
            else { continue }
            guard unlink(copy) == 0 else {
                logger.warning(
                    "an old copy of the store cannot be removed",
                    metadata: ["copy": "\(copy)", "reason": "\(String(cString: strerror(errno)))"])
                continue
            }
            logger.info("an old copy of the store was removed", metadata: ["copy": "\(copy)"])
        }
    }
}

/// Goes on with the deletion of services whose command was ended in the middle.
struct ServiceRemoving: RepeatedWork {
    static let pause = Duration.seconds(10)
    /// Rows of one transaction: points that come meanwhile wait no longer than it takes.
    static let rowsAtOnce = 500

    let store: any ServiceDeletionStore
    let logger: Logger
    /// Commands of other processes write too.
    var writing = StepwiseWriting()

    func round() async {
        var (removed, writing) = (0, writing)
        do throws(TrackStoreError) {
            while !Task.isCancelled {
                let count = try await writing.step { () async throws(TrackStoreError) in
                    try await store.removeDeletedServices(limit: Self.rowsAtOnce)
                }
                if count == 0 { break }
                removed += count
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning(
                "what is left of deleted services could not be removed, which is tried again later",
                metadata: ["reason": "\(error.detail)"])
        }
        guard removed > 0 else { return }
        logger.info("what was left of deleted services was removed", metadata: ["rows": "\(removed)"])
    }
}

/// How far the system's clock is believed where a wrong time would do what nobody can undo.
///
/// A clock that something keeps right is believed. Any other is believed only near the time at which the server received its
/// newest points before this start. What is received after the start has the time of the same clock, so it proves nothing.
/// A restart takes the newest stored time again: who stores points by a wrong clock and starts again is believed then.
struct TrustedTime: Sendable {
    /// Milliseconds that an unkept clock may be away from the newest stored points, beside the time since the start.
    static let tolerance: Int64 = 86_400_000

    private let newest: Timestamp?
    private let start: MonotonicTime
    private let clock: @Sendable () -> Timestamp
    private let monotonic: @Sendable () -> MonotonicTime
    private let isKept: @Sendable () -> Bool

    /// `newest`: when the server received its newest points, read before it takes others; nil: nothing was ever stored.
    /// `isKept`: whether something keeps the system's clock right.
    init(
        newest: Timestamp?, clock: @escaping @Sendable () -> Timestamp,
        monotonic: @escaping @Sendable () -> MonotonicTime, isKept: @escaping @Sendable () -> Bool
    ) {
        self.newest = newest
        start = monotonic()
        self.clock = clock
        self.monotonic = monotonic
        self.isKept = isKept
    }

    /// A time that is not later than now, for what removes the old. Nil: nothing says when now is.
    var noLaterThanNow: Timestamp? {
        let now = clock()
        return isKept() ? now : latest.map { min(now, $0) }
    }

    /// The time of the clock, when it can be right; otherwise nil.
    var now: Timestamp? {
        let now = clock()
        if isKept() { return now }
        guard let newest, let latest else { return nil }
        return (newest.adding(milliseconds: -Self.tolerance)...latest).contains(now) ? now : nil
    }

    private var latest: Timestamp? {
        newest?.adding(milliseconds: Self.tolerance + max(0, monotonic() - start))
    }
}
