/// Points that are sent to the engine in one call.
package struct TraceChunk: Hashable, Sendable {
    /// Which part of the track.
    package let part: Int
    /// Which of the part's sent points.
    package let range: Range<Int>
    /// Those of them that this chunk places. The rest gives context: the chunk beside it is farther from its own end
    /// there.
    package let owned: Range<Int>
}
