package struct Page: Hashable, Sendable {
    /// From 0.
    package var offset: Int
    package var limit: Int

    package init(offset: Int, limit: Int) {
        self.offset = offset
        self.limit = limit
    }
}
