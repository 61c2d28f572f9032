/// What a remembered route belongs to: the same question about the same map.
package struct RouteKey: Hashable, Sendable {
    private let question: [UInt8]
    private let tiles: Int64

    /// `tiles` is the map's time.
    package init(_ request: RoadRequest, tiles: Int64) {
        question = request.body
        self.tiles = tiles
    }

    package var bytes: Int { question.count }
}
