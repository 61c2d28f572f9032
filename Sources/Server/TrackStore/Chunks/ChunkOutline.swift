/// What the store knows of a chunk without decoding the payload.
package struct ChunkOutline: Hashable, Sendable {
    package var id: Int64
    package var firstTime: Int64
    package var lastTime: Int64
    package var count: Int
    package var isSettled: Bool

    package init(id: Int64, firstTime: Int64, lastTime: Int64, count: Int, isSettled: Bool) {
        self.id = id
        self.firstTime = firstTime
        self.lastTime = lastTime
        self.count = count
        self.isSettled = isSettled
    }
}
