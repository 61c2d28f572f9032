package import TrackModel

/// Finds fences that make too many alarms of an entity. Nothing is held back: a line in the log names the fence, at most once
/// an hour.
package struct AlarmStorm: Sendable {
    private struct Pair: Hashable {
        let fence: Int32
        let entity: ExactName
    }

    private struct Recent {
        /// Of the newest alarms, at most one more than are usual; in the order in which they came.
        var times: [Timestamp] = []
        var told: Timestamp?
    }

    /// Alarms an hour that are usual.
    package static let usual = 60
    private static let hour: Int64 = 3_600_000
    /// Pairs that are watched at a time; what was silent for an hour makes room first.
    static let mostPairs = 4096

    private var pairs: [Pair: Recent] = [:]

    package init() {}

    /// True when a line is due: more than ``usual`` alarms within the hour up to this one, and no line within the last hour.
    /// The time is that of telling, by one clock for all calls; a clock that was set back begins anew.
    package mutating func add(fence: Int32, entity: String, at time: Timestamp) -> Bool {
        let pair = Pair(fence: fence, entity: ExactName(entity))
        if pairs[pair] == nil, pairs.count >= Self.mostPairs { makeRoom(at: time) }
        var recent = pairs.removeValue(forKey: pair) ?? Recent()
        recent.times.removeAll { !Self.isRecent($0, at: time) }
        recent.times.append(time)
        if recent.times.count > Self.usual + 1 { recent.times.removeFirst() }
        if let told = recent.told, !Self.isRecent(told, at: time) { recent.told = nil }
        let isDue = recent.times.count > Self.usual && recent.told == nil
        if isDue { recent.told = time }
        pairs[pair] = recent
        return isDue
    }

    private static func isRecent(_ earlier: Timestamp, at time: Timestamp) -> Bool {
        (0..<hour).contains(time.milliseconds(since: earlier))
    }

    private mutating func makeRoom(at time: Timestamp) {
        pairs = pairs.filter { $0.value.times.last.map { Self.isRecent($0, at: time) } ?? false }
        // Nearly all of them are busy: counting from nothing again costs less than to look for room at each alarm.
        if pairs.count > Self.mostPairs / 2 { pairs.removeAll() }
    }
}
