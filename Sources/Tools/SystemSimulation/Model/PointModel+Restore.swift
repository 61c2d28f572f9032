internal import TrackModel

/// What the server has of the points at the time of a backup.
struct RestoredPoints {
    fileprivate let count: Int
    fileprivate let stored: Set<Int>
    fileprivate let lastStored: [String: Int]
    fileprivate let takenThrough: [[UInt8]: UInt64]
}

// The server begins again with an earlier store.
extension PointModel {
    var storedPoints: RestoredPoints {
        RestoredPoints(
            count: storedCount, stored: Set(entries.indices.filter { entries[$0].isStored }), lastStored: lastStored,
            takenThrough: takenThrough)
    }

    /// A batch brought a point under this number of its stream.
    mutating func came(_ point: TrackPoint, of entity: String, as sequence: UInt64, _ stream: [UInt8]) {
        guard let index = byKey[Key(entity, point.fix)] else { return }
        entries[index].origin = (stream, sequence)
    }

    /// The server has what it had then. What it has told the vehicle since, by streams, the vehicle may have let go of; every
    /// other point must come again.
    mutating func serverRestored(_ kept: RestoredPoints, told: [[UInt8]: UInt64]) {
        for index in entries.indices where entries[index].isStored && !kept.stored.contains(index) {
            entries[index].isStored = false
            let isTold = entries[index].origin.map { $0.sequence <= told[$0.stream] ?? 0 } ?? true
            entries[index].isLostWithServer = isTold || entries[index].fate == .acknowledged
        }
        (storedCount, lastStored, takenThrough) = (kept.count, kept.lastStored, kept.takenThrough)
    }
}
