/// How the Web API answers the clients of one service, where the published clients disagree. Nil: as the configuration of
/// the server says.
package struct AnswerForms: Hashable, Sendable {
    /// How `fence/list` writes the vertices of a fence.
    package var vertices: VertexForm?
    /// The status of `entity/delete` for an entity that the service does not have.
    package var unknownEntity: UnknownEntityStatus?

    package init(vertices: VertexForm? = nil, unknownEntity: UnknownEntityStatus? = nil) {
        self.vertices = vertices
        self.unknownEntity = unknownEntity
    }
}

/// How the vertices of a fence are written.
package enum VertexForm: String, Hashable, Sendable, CaseIterable {
    /// An array of objects with `longitude` and `latitude`.
    case objects
    /// One text, `latitude,longitude` pairs joined by semicolons.
    case text
}

/// What the deletion of something that is not there is.
package enum UnknownEntityStatus: String, Hashable, Sendable, CaseIterable {
    case notFound = "3003"
    case success = "0"
}
