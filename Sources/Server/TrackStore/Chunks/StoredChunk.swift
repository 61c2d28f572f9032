package import TrackModel
import TrackWire

/// A chunk as it was read from a store.
package struct StoredChunk: Sendable {
    package let id: Int64
    package let points: [TrackPoint]
    package let received: [Timestamp]

    /// Decodes what the store keeps of a chunk; `received` is the receive time of its first point, `first` and `last` are
    /// the least and the greatest time of its points.
    ///
    /// Throws `.corrupt`.
    package init(
        id: Int64, first: Timestamp, last: Timestamp, count: Int, isCompressed: Bool, received: Timestamp,
        runs: [UInt8]?, payload: [UInt8]
    ) throws(TrackStoreError) {
        self.id = id
        do {
            points = try BatchCodec.decode(payload, isCompressed: isCompressed)
        } catch {
            throw TrackStoreError(.corrupt, "chunk \(id) cannot be read: \(error)")
        }
        guard points.count == count else {
            throw TrackStoreError(.corrupt, "chunk \(id) should hold \(count) points, it holds \(points.count)")
        }
        let times = points.lazy.map(\.fix.time)
        guard times.min() == first, times.max() == last else {
            throw TrackStoreError(.corrupt, "chunk \(id) does not begin and end when its columns say")
        }
        guard let received = ReceiveRuns.decode(runs, first: received, count: count) else {
            throw TrackStoreError(.corrupt, "the receive times of chunk \(id) do not fit its \(count) points")
        }
        self.received = received
    }
}
