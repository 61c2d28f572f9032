import ConfigurationFile
import Glibc
import Logging
import TrackModel

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
