import Logging
import Synchronization
import Systemd
import TrackExport
import TrackModel
import TrackStore
import WebAPI

/// Writes the files of export jobs, one after the other, and removes files whose time is over.
struct Exporting: JobWork {
    static let interval = Duration.seconds(2)

    let store: any TrackStore
    let directory: ExportDirectory
    let record: ExportCounters
    let logger: Logger
    /// For lines that clients cause.
    private let log: RequestLog
    let now: @Sendable () -> Timestamp
    private let pointsAtOnce: Int
    /// Names the server among those that share a store. A server that was killed has the same number again.
    private let worker: Int64

    init(
        store: any TrackStore, directory: ExportDirectory, record: ExportCounters, logger: Logger,
        pointsAtOnce: Int = ExportWork.pointsAtOnce, now: @escaping @Sendable () -> Timestamp
    ) {
        self.pointsAtOnce = pointsAtOnce
        (self.store, self.directory, self.record) = (store, directory, record)
        (self.logger, self.now, log) = (logger, now, RequestLog(logger, now: now))
        worker = directory.worker() ?? Int64.random(in: .min ... .max)
    }

    /// Does every job that waits. False: one failed, and the others would fail the same way.
    func step() async -> Bool {
        while !Task.isCancelled {
            do {
                let time = now()
                let found = try await store.claimExport(
                    by: worker, at: time, through: JobClaim.end(from: time))
                guard let job = found else { return true }
                // A deleted job's file would take room that its service may use again.
                await clear()
                try await write(job)
            } catch {
                record.failed()
                logger.error(
                    "an export cannot be written: the job waits, and is tried again",
                    metadata: ["reason": "\(error)", "message_id": "\(MessageID.exportFailing)"])
                return false
            }
        }
        return true
    }

    private func write(_ job: ExportRecord) async throws {
        do {
            guard let result = try await content(of: job) else {
                if Task.isCancelled { try await giveBack(job) }
                return
            }
            guard try await store.settleExport(job.number, by: worker, result, at: now()) else { return }
            record.finished(points: result.points)
            log.write(
                .info, "an export is done", of: job.service,
                ["job": "\(job.number)", "points": "\(result.points)", "bytes": "\(result.bytes)"])
        } catch {
            do { try await giveBack(job) } catch let other {
                // What happened first is the reason.
                logger.error(
                    "an export that failed cannot be given back: it is tried again when its claim has ended",
                    metadata: ["job": "\(job.number)", "reason": "\(other)"])
            }
            throw error
        }
    }

    /// Not in the cancelled task: the next process should not have to wait for the claim to end.
    private func giveBack(_ job: ExportRecord) async throws {
        let (store, worker, time) = (store, worker, now())
        _ = try await Task { try await store.settleExport(job.number, by: worker, nil, at: time) }.value
    }

    /// Nil when the job was deleted, or when the server ends.
    private func content(of job: ExportRecord) async throws -> ExportResult? {
        let columns = try await store.columns(of: .track, in: job.service)
        let lines = ExportLines(job.order, columns: columns)
        try directory.make()
        directory.keep(worker: worker)
        var file = try ExportFile(
            path: directory.file(job.token), entry: ExportLines.fileName(of: job), modified: now())
        var progress = ExportWork.Progress()
        var claim = JobClaim(at: now())
        let work = ExportWork(job, store: store, pointsAtOnce: pointsAtOnce) { lines.text($0, $1, $2) }
        let isWhole = try await work.write(to: &file, &progress) {
            try await claim.holds(at: now()) { try await store.keepExport(job.number, by: worker, through: $0) }
        }
        guard isWhole else { return nil }
        if let hole = progress.holes.first {
            log.write(
                .error, "stored points cannot be read: the export leaves them out", of: job.service,
                [
                    "reason": "\(hole.reason)", "chunks": "\(progress.holes.count)", "call": "export/createjob",
                    "message_id": "\(MessageID.pointsUnreadable)",
                ])
        }
        let bytes = try file.finish()
        return ExportResult(points: progress.points, bytes: bytes)
    }

    /// Jobs whose time is over, and files without a job.
    func clear() async {
        do throws(TrackStoreError) {
            _ = try await store.removeExports(doneBefore: now().adding(milliseconds: -ExportRules.kept))
            _ = directory.clear(but: try await store.exportTokens())
        } catch {
            logger.warning("old exports could not be removed", metadata: ["reason": "\(error.detail)"])
        }
    }
}

/// What the writing of exports has come to since the start.
final class ExportCounters: Sendable {
    struct Counts: Hashable, Sendable {
        var done = 0
        var failed = 0
        var points: Int64 = 0
    }

    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    func finished(points: Int64) {
        state.withLock { state in
            state.done += 1
            state.points += points
        }
    }

    func failed() { state.withLock { $0.failed += 1 } }
}
