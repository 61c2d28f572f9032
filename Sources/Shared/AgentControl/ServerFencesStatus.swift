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
    package var remembered: RememberedStatus

    package static let mostReasons = 5

    package init(
        version: Int64, kept: Int64, inside: Int64, alarms: Int64, confirmed: Int64, unconfirmed: Int64,
        reportsWaiting: Int64, remembered: RememberedStatus
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
