/// What became of the points that this process has given to the cache, beside what the ring counts itself.
package struct Tally: Hashable {
    /// Points that the disk's queue took.
    package internal(set) var gathered: UInt64 = 0
    /// Points that were not taken because the disk hung and its queue was full.
    package internal(set) var lostBusyDisk: UInt64 = 0
    /// Records that no reader of this program understands.
    var undecodable: UInt64 = 0
}
