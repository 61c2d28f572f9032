internal import Geodesy
internal import JSON

/// The engine's answer to a ``TraceRequest``, checked: no index of it leads outside.
package struct TraceAnswer: Hashable, Sendable {
    let shape: [Degrees]
    package let edges: [RoadEdge]
    /// One for each point that was sent; nil for those that are unmatched.
    package let points: [TracePoint?]

    /// `count` points were sent.
    package init(_ reply: RoadReply, count: Int) throws(RoadFailure) {
        let json = try reply.object()
        guard let points = json["matched_points"]?.arrayValue, points.count == count,
            let edges = json["edges"]?.arrayValue,
            let text = json["shape"]?.stringValue, let shape = Polyline.places(text)
        else { throw .invalid }
        var read: [RoadEdge] = []
        read.reserveCapacity(edges.count)
        for edge in edges {
            guard let edge = RoadEdge(edge, vertices: shape.count) else { throw .invalid }
            read.append(edge)
        }
        self.shape = shape
        self.edges = read
        self.points = points.map { TracePoint($0, edges: read.count) }
    }
}
