import AgentControl
import FenceFiles
import Geofencing
import JSON
import TrackModel

/// The points of a recorded track, as fences see them.
enum TrackPoints {
    /// So many are judged; 23 days of one point a second.
    static let most = 2_000_000

    /// All points of the file. `isUploaded`: a program made them, and no receiver.
    static func read(_ path: String, isUploaded: Bool, now: Int64) throws -> [FencePoint] {
        var (file, points) = (try PointFile(path, now: now, attributes: [FloorAttribute.key]), [FencePoint]())
        while let point = try file.next() {
            guard points.count < most else {
                throw CommandFailure(
                    .failed, "\(path.printable): more than \(Quantity.count(Int64(most))) points: take the file apart")
            }
            do throws(CustomPoint.Problem) {
                var judged = FencePoint(try CustomPoint.point(point.value))
                judged.isFromReceiver = !isUploaded
                points.append(judged)
            } catch {
                throw CommandFailure(.failed, "\(path): \(point.place): \(error.detail)".printable)
            }
        }
        return points
    }
}
