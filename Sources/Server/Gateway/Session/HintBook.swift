import Ingest
import TrackModel

/// The live hints of a session: one is with the writer at a time, and the newest of the others waits.
struct HintBook: Hashable {
    private enum State: Hashable {
        case none
        /// Memory was asked for.
        case asking(TrackPoint)
        case storing(waiting: TrackPoint?)
    }

    private var state = State.none

    /// A point that may be stored.
    mutating func arrived(_ point: TrackPoint) -> [SessionMachine.Action] {
        switch state {
        case .none:
            state = .asking(point)
            return [.reserve(.hint, cost: IngestJob.cost(payloadBytes: 0, points: 1))]
        case .asking: state = .asking(point)
        case .storing: state = .storing(waiting: point)
        }
        return []
    }

    /// The point to hand over, if the writer has memory for it. With the store behind there will be another point soon;
    /// uploads go first.
    mutating func reserved(isGranted: Bool) -> TrackPoint? {
        guard case .asking(let point) = state else { return nil }
        state = isGranted ? .storing(waiting: nil) : .none
        return isGranted ? point : nil
    }

    /// The writer is done with the hint; its outcome does not matter. Returns the point that came meanwhile.
    mutating func settled() -> TrackPoint? {
        guard case .storing(let waiting) = state else { return nil }
        state = .none
        return waiting
    }
}
