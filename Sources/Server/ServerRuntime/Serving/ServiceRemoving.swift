import Logging
import TrackStore

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
            logger.warning(
                "what is left of deleted services could not be removed, which is tried again later",
                metadata: ["reason": "\(error.detail)"])
        }
        guard removed > 0 else { return }
        logger.info("what was left of deleted services was removed", metadata: ["rows": "\(removed)"])
    }
}
