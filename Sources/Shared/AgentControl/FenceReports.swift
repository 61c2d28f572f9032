package import JSON

/// A fence of the vehicle's own, as the agent keeps it.
package struct LocalFenceReport: Codable, Hashable, Sendable {
    /// The fence's number. The agent never gives it to another fence.
    package var id: Int64
    /// From 1. It grows with each change of what an alarm depends on.
    package var revision: Int64
    /// By the agent's system clock.
    package var created: Int64
    package var modified: Int64
    package var vertices: Int64
    /// Why the agent does not judge the fence; nil when it does.
    package var trouble: String?
    /// The fence as the room `FenceJSON` writes it. A fence with more than ``mostVertices`` vertices has no `shape` here.
    package var fence: JSONValue

    /// The most vertices of a shape in a list. `ExportFences` gives larger ones.
    package static let mostVertices = 2000

    package init(
        id: Int64, revision: Int64, created: Int64, modified: Int64, vertices: Int64, trouble: String? = nil,
        fence: JSONValue
    ) {
        self.id = id
        self.revision = revision
        self.created = created
        self.modified = modified
        self.vertices = vertices
        self.trouble = trouble
        self.fence = fence
    }
}

/// The reply of `CreateFence` and `UpdateFence`.
package struct FenceReply: DurableReply, Codable, Hashable {
    package var fenceID: Int64
    package var revision: Int64
    package var code: Int64
    package var durable: Bool?

    package init(fenceID: Int64, revision: Int64) {
        self.fenceID = fenceID
        self.revision = revision
        code = 0
    }

    enum CodingKeys: String, CodingKey {
        case revision, code, durable
        case fenceID = "fence_id"
    }
}

/// The reply of `DeleteFences`.
package struct DeleteFencesReply: DurableReply, Codable, Hashable {
    /// In the order of their numbers.
    package var deleted: [Int64]
    package var code: Int64
    package var durable: Bool?

    package init(deleted: [Int64]) {
        self.deleted = deleted
        code = 0
    }
}

/// The reply of `ListFences`.
package struct FencesReply: Codable, Hashable, Sendable {
    /// In the order of their numbers.
    package var fences: [LocalFenceReport]
    /// More fences match than fit into one reply.
    package var more: Bool

    package init(fences: [LocalFenceReport], more: Bool) {
        self.fences = fences
        self.more = more
    }
}

/// The reply of `ExportFences`.
package struct ExportFencesReply: Codable, Hashable, Sendable {
    /// A piece of JSON lines, one line a fence. It may end inside a line.
    package var text: String
    /// Where the next piece begins; nil after the last.
    package var position: String?

    package init(text: String, position: String?) {
        self.text = text
        self.position = position
    }
}

/// The reply of `ImportFences`.
package struct ImportFencesReply: DurableReply, Codable, Hashable {
    /// Lines so far.
    package var received: Int64
    /// The fences have changed. False: a part was taken, and nothing has changed yet.
    package var done: Bool
    /// Fences; 0 unless done.
    package var created: Int64
    package var updated: Int64
    package var unchanged: Int64
    package var deleted: Int64
    package var code: Int64
    package var durable: Bool?

    package init(
        received: Int64, done: Bool, created: Int64 = 0, updated: Int64 = 0, unchanged: Int64 = 0, deleted: Int64 = 0
    ) {
        self.received = received
        self.done = done
        self.created = created
        self.updated = updated
        self.unchanged = unchanged
        self.deleted = deleted
        code = 0
    }
}

/// Where an entity is with regard to one fence.
package struct FenceStatusReport: Codable, Hashable, Sendable {
    package enum Place: String, Codable, Hashable, Sendable, CaseIterable {
        case inside = "in"
        case outside = "out"
        /// The fence has not judged the entity yet.
        case unknown
    }

    package var fenceID: Int64
    package var name: String
    package var status: Place
    /// When the entity came in, by GNSS time. Nil outside.
    package var since: Int64?
    /// Metres from the place to the boundary; negative inside.
    package var distance: Double?
    /// Of the last point that the fence judged, by GNSS time.
    package var time: Int64?

    package init(
        fenceID: Int64, name: String, status: Place, since: Int64? = nil, distance: Double? = nil, time: Int64? = nil
    ) {
        self.fenceID = fenceID
        self.name = name
        self.status = status
        self.since = since
        self.distance = distance
        self.time = time
    }

    enum CodingKeys: String, CodingKey {
        case name, status, since, distance, time
        case fenceID = "fence_id"
    }
}

/// The reply of `GetFenceStatus`.
package struct FenceStatusReply: Codable, Hashable, Sendable {
    package var entity: String
    /// In the order of the fences' numbers.
    package var statuses: [FenceStatusReport]
    package var more: Bool

    package init(entity: String, statuses: [FenceStatusReport], more: Bool) {
        self.entity = entity
        self.statuses = statuses
        self.more = more
    }
}
