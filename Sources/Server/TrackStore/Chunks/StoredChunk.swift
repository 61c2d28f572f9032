package import TrackModel
import TrackWire

/// A chunk as it was read from a store.
package struct StoredChunk: Sendable {
    package let id: Int64
    package let points: StoredPoints
    /// The least and the greatest time of the points.
    let times: ClosedRange<Timestamp>

    /// Decodes what the store keeps of a chunk; `received` is the receive time of its first point, `first` and `last` are
    /// the least and the greatest time of its points.
    ///
    /// Throws `.corrupt`.
    package init(
        id: Int64, first: Timestamp, last: Timestamp, count: Int, isCompressed: Bool, received: Timestamp,
        runs: [UInt8]?, payload: [UInt8]
    ) throws(TrackStoreError) {
        self.id = id
        let points: PackedPoints
        do {
            points = try BatchCodec.decodePacked(payload, isCompressed: isCompressed)
        } catch {
            throw TrackStoreError(.corrupt, "chunk \(id) cannot be read: \(error)")
        }
        guard points.count == count else {
            throw TrackStoreError(.corrupt, "chunk \(id) should hold \(count) points, it holds \(points.count)")
        }
        var (least, greatest) = (Timestamp(milliseconds: .max), Timestamp(milliseconds: .min))
        for position in 0..<count {
            let time = points.time(at: position)
            least = min(least, time)
            greatest = max(greatest, time)
        }
        guard count > 0, least == first, greatest == last else {
            throw TrackStoreError(.corrupt, "chunk \(id) does not begin and end when its columns say")
        }
        times = first...last
        guard let received = ReceiveRuns.decode(runs, first: received, count: count),
            let stored = StoredPoints(points, received: received)
        else {
            throw TrackStoreError(.corrupt, "the receive times of chunk \(id) do not fit its \(count) points")
        }
        self.points = stored
    }
}
