import Ingest
import TrackWire

/// A frame with points on its way from the decoder to the writer. Meanwhile no other frame is read.
enum FrameIntake: Hashable {
    enum Frame: Hashable {
        case upload(Upload)
        case points(Points)
        case alarms(AlarmUpload)

        /// The size that the sender claims: the frame is not decoded before there is memory for it.
        var payloadBytes: Int {
            switch self {
            case .upload(let upload): upload.payload.count
            case .points(let points): points.payload.count
            case .alarms(let upload):
                upload.alarms.reduce(0) { $0 + $1.json.utf8.count + $1.remoteTo.reduce(0) { $0 + $1.utf8.count } }
            }
        }

        /// Memory until it is stored, bytes.
        func cost(batchPoints: Int) -> Int {
            let claimed =
                switch self {
                case .upload(let upload): Int(upload.count)
                case .points(let points): Int(points.count)
                case .alarms(let upload): upload.alarms.count
                }
            return IngestJob.cost(payloadBytes: payloadBytes, points: min(claimed, batchPoints))
        }
    }

    case free
    /// It waits for a claim, for batches before it, or for memory.
    case held(Frame)
    /// Memory was asked for.
    case asking(Frame, cost: Int)
    /// An earlier session stored these sequences up to a number; the store is being asked whether as these points.
    case verifying(CheckedBatch, payloadBytes: Int, cost: Int, through: UInt64)
}
