/// How the vehicle is now, in the words in which its operator hears of it. Points count since the agent started.
package struct HealthStatus: Codable, Hashable, Sendable {
    /// Something that a person should do something about.
    package struct Trouble: Codable, Hashable, Sendable {
        /// What the server's list and metrics call it: `losing_points`, `disk`, …
        package var kind: String
        /// For people, one clause.
        package var text: String

        package init(kind: String, text: String) {
            self.kind = kind
            self.text = text
        }
    }

    /// The worst first; empty: the vehicle is well.
    package var troubles: [Trouble]
    /// Points that wait for an acknowledgement.
    package var backlog: Int64
    /// Points that the server will never get, by reason.
    package var losses: [String: Int64]
    /// `unknown`, `off`, `fix`, `no_fix`, `away`, `unreachable` or `forbidden`.
    package var receiver: String
    /// Whether the agent is to make points.
    package var gathering: Bool
    /// `unknown`, `ok`, `full`, `read_only` or `refusing`.
    package var disk: String
    /// The end of the vehicle's own certificate; nil: it has none, or the agent cannot read it.
    package var certificateEndTime: Int64?
    /// When the agent told its server last; nil: not since it started, or the server takes no reports.
    package var toldTime: Int64?

    package init(
        troubles: [Trouble], backlog: Int64, losses: [String: Int64], receiver: String, gathering: Bool, disk: String,
        certificateEndTime: Int64? = nil, toldTime: Int64? = nil
    ) {
        self.troubles = troubles
        self.backlog = backlog
        self.losses = losses
        self.receiver = receiver
        self.gathering = gathering
        self.disk = disk
        self.certificateEndTime = certificateEndTime
        self.toldTime = toldTime
    }

    enum CodingKeys: String, CodingKey {
        case troubles, backlog, losses, receiver, gathering, disk
        case certificateEndTime = "certificate_end_time"
        case toldTime = "told_time"
    }
}
