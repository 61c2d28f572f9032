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

/// The vehicle's own fences in the status.
package struct FencesStatus: Codable, Hashable, Sendable {
    /// Fences that there are, those of them that watch the present entity, and those that it is inside of.
    package var kept: Int64
    package var watching: Int64
    package var inside: Int64
    /// Since the agent started: alarms that were told; fixes that came too late to be judged; alarms of one point beyond
    /// the most that are told; alarms that were told and never written, because too many waited for the disk.
    package var alarms: Int64
    package var late: Int64
    package var leftOut: Int64
    package var dropped: Int64
    /// Alarms that are not on the disk yet.
    package var waiting: Int64
    /// When the newest alarm happened, by GNSS time.
    package var lastAlarmTime: Int64?
    /// Why alarms cannot be written to the disk now.
    package var lastError: String?
    /// Whether the fences are on the disk.
    package var remembered: DurableStateStatus
    /// The server's fences; nil when the agent has none and never had some.
    package var server: ServerFencesStatus?

    package init(
        kept: Int64, watching: Int64, inside: Int64, alarms: Int64, late: Int64, leftOut: Int64, dropped: Int64,
        waiting: Int64, lastAlarmTime: Int64?, lastError: String?, remembered: DurableStateStatus,
        server: ServerFencesStatus? = nil
    ) {
        self.kept = kept
        self.watching = watching
        self.inside = inside
        self.alarms = alarms
        self.late = late
        self.leftOut = leftOut
        self.dropped = dropped
        self.waiting = waiting
        self.lastAlarmTime = lastAlarmTime
        self.lastError = lastError
        self.remembered = remembered
        self.server = server
    }

    enum CodingKeys: String, CodingKey {
        case kept, watching, inside, alarms, late, dropped, waiting, remembered, server
        case leftOut = "left_out"
        case lastAlarmTime = "last_alarm_time"
        case lastError = "last_error"
    }
}

/// The server's fences on the vehicle. Members that an earlier agent does not tell are nil.
package struct ServerFencesStatus: Codable, Hashable, Sendable {
    /// The set's version; fences in it; those that the entity is inside of.
    package var version: Int64
    package var kept: Int64
    package var inside: Int64
    /// When the newest change that the set has was made, by the server's clock; nil without a set.
    package var changedTime: Int64?
    /// The set has only the nearest fences: all within so many metres of the place where the server chose them. Nil: all.
    package var completeWithin: Int64?
    /// Fences that the agent does not judge, and why: each reason once, at most ``mostReasons``.
    package var notJudged: Int64?
    package var notJudgedReasons: [String]?
    /// Whether the server of the last login sends fences; nil before the first login.
    package var sent: Bool?
    /// Updates of the server that the agent could not use, since it started; why the newest update is not in use: nil when it
    /// is.
    package var updatesRefused: Int64?
    package var lastError: String?
    /// Why the fences could not be read when the agent started; nil when they could, or when the server has sent them again.
    package var fileError: String?
    /// Since the agent started: early alarms that were told, those that the server confirmed, and those that it did not
    /// confirm in time.
    package var alarms: Int64
    package var confirmed: Int64
    package var unconfirmed: Int64
    /// Early alarms that wait for the server's word.
    package var confirmationsWaiting: Int64?
    /// Alarms of which the server is still to be told.
    package var reportsWaiting: Int64
    /// Those of them that wait for a login as another entity or in another service.
    package var reportsElsewhere: Int64?
    /// Since when the server has answered no report although some wait for this entity; nil when none does.
    package var reportsWaitingSince: Int64?
    /// Whether the fences are on the disk.
    package var remembered: DurableStateStatus

    package static let mostReasons = 5

    package init(
        version: Int64, kept: Int64, inside: Int64, alarms: Int64, confirmed: Int64, unconfirmed: Int64,
        reportsWaiting: Int64, remembered: DurableStateStatus
    ) {
        self.version = version
        self.kept = kept
        self.inside = inside
        self.alarms = alarms
        self.confirmed = confirmed
        self.unconfirmed = unconfirmed
        self.reportsWaiting = reportsWaiting
        self.remembered = remembered
    }

    enum CodingKeys: String, CodingKey {
        case version, kept, inside, sent, alarms, confirmed, unconfirmed, remembered
        case changedTime = "changed_time"
        case completeWithin = "complete_within"
        case notJudged = "not_judged"
        case notJudgedReasons = "not_judged_reasons"
        case updatesRefused = "updates_refused"
        case lastError = "last_error"
        case fileError = "file_error"
        case confirmationsWaiting = "confirmations_waiting"
        case reportsWaiting = "reports_waiting"
        case reportsElsewhere = "reports_elsewhere"
        case reportsWaitingSince = "reports_waiting_since"
    }
}
