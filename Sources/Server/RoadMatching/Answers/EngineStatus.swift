internal import JSON

/// The engine's answer to ``RoadRequest/status``.
package struct EngineStatus: Hashable, Sendable {
    /// Such as "3.9.1".
    package let version: String
    /// Seconds since 1970; 0 when the engine does not tell it. Another number is another map.
    package let tilesModified: Int64
    package let actions: [String]

    /// What the client needs.
    package static let neededActions = ["trace_attributes", "route", "locate"]

    package init(_ reply: RoadReply) throws(RoadFailure) {
        let json = try reply.object()
        guard let version = json["version"]?.stringValue else { throw .invalid }
        self.version = version
        tilesModified = json["tileset_last_modified"]?.integerValue ?? 0
        actions = json["available_actions"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }
}
