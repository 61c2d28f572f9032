internal import AgentControl
internal import FenceFiles
internal import Geofencing
internal import JSON
internal import Terminal
internal import TrackModel

/// The points of a recorded track, as fences see them.
enum TrackPoints {
    /// So many are judged; 23 days of one point a second.
    static let most = 2_000_000

    /// All points of the file, how many places of it are none, and what is to be told of them. `isUploaded`: a program made them, and no
    /// receiver.
    static func read(
        _ path: String, _ times: PointFileRules, isUploaded: Bool
    ) throws -> (points: [FencePoint], leftOut: Int64, remarks: [String]) {
        var (file, points) = (
            try PointFile(path, times: times, attributes: [FloorAttribute.key]), [FencePoint]()
        )
        while let point = try file.next() {
            guard points.count < most else {
                throw FenceCommandFailure(
                    .failed, "\(path.printable): more than \(Quantity.count(Int64(most))) points: take the file apart")
            }
            do throws(CustomPoint.Problem) {
                var judged = FencePoint(try CustomPoint.point(point.value))
                judged.isFromReceiver = !isUploaded
                points.append(judged)
            } catch {
                throw FenceCommandFailure(.failed, "\(path): \(point.place): \(error.detail)".printable)
            }
        }
        return (points, file.leftOut.count, file.leftOut.lines(path) + file.notes)
    }
}
