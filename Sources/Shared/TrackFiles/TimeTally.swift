/// Counts the different times of some points: of an entity's points of one time, the store keeps the one that came last.
///
/// Exact for so many times as there is room for, and for any number of times that rise.
package struct TimeTally: Hashable, Sendable {
    private var known: Set<Int64> = []
    private var latest: Int64?
    /// Points whose time was another one's already.
    package private(set) var repeated = 0
    /// False: some of the other points may have the time of another one, too.
    package private(set) var isExact = true

    package init() {}

    /// `room`: how many more times may be kept, here and by others.
    package mutating func add(_ time: Int64, room: inout Int) {
        guard time != latest, !known.contains(time) else {
            repeated += 1
            return
        }
        if room > 0 {
            known.insert(time)
            room -= 1
        } else if time < latest ?? .min {
            isExact = false
        }
        latest = max(latest ?? .min, time)
    }
}
