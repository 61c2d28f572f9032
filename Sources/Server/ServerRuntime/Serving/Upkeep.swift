import FoundationEssentials
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
            hasFailed = true
            logger.warning(
                "merging failed and is tried again later",
                metadata: ["reason": "\(error.detail)"])
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
struct CertificateWatch: RepeatedWork {
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

/// Removes pushes and alarms that are older than the history, and news of fences that nobody needs any more.
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
        let news = now.adding(milliseconds: -FenceRules.newsKept)
        do throws(TrackStoreError) {
            try await repeated(&writing) { () async throws(TrackStoreError) in
                try await store.removePushes(before: pushes, limit: Self.atOnce)
            }
            try await repeated(&writing) { () async throws(TrackStoreError) in
                try await store.removeAlarms(before: alarms, limit: Self.atOnce)
            }
            try await repeated(&writing) { () async throws(TrackStoreError) in
                try await store.removeFenceNews(before: news, limit: Self.atOnce)
            }
        } catch {
            logger.warning(
                "old pushes, alarms or news of fences could not be removed, which is tried again later",
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
