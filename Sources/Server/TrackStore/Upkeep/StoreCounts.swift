package struct StoreCounts: Hashable, Sendable {
    package var services: Int
    package var entities: Int
    package var chunks: Int
    /// Points held, those counted that a later one of the same time has superseded and no merging has removed yet.
    package var points: Int

    package init(services: Int, entities: Int, chunks: Int, points: Int) {
        self.services = services
        self.entities = entities
        self.chunks = chunks
        self.points = points
    }
}
