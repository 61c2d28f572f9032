import Logging
import TrackModel
import TrackStore

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
                var mark: RemovalMark?
                repeat {
                    let step = try await writing.step { () async throws(TrackStoreError) in
                        try await store.removePoints(
                            of: service.id, before: border, after: mark, limit: Self.chunksAtOnce)
                    }
                    removed += step.removed
                    mark = step.mark
                } while mark != nil && !Task.isCancelled
                guard removed > 0 else { continue }
                logger.info(
                    "points were removed, because the service keeps them no longer",
                    metadata: ["service": "\(service.id.rawValue)", "points": "\(removed)", "days": "\(days)"])
            }
        } catch {
            logger.warning(
                "old points could not be removed, which is tried again later", metadata: ["reason": "\(error.detail)"])
        }
    }
}
