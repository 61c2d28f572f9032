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

/// What is wrong with the receiver's dates.
package struct DatesStatus: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// The receiver's date and the computer's clock are far apart.
        case disagreement
        /// The receiver tells places without a time.
        case missing
        /// The receiver tells the same time again and again.
        case standing
        /// Two receivers tell different dates.
        case receivers
    }

    package var kind: Kind
    /// What the receiver and the computer's clock say; nil when the receiver tells no time. Of `receivers`, the date that points
    /// have is the receiver's.
    package var receiverTime: Int64?
    package var clockTime: Int64?
    /// Whether points have the time of the computer's clock.
    package var isClockUsed: Bool
    /// A sentence: what is wrong.
    package var text: String
    /// What to do.
    package var remedy: String

    package init(
        kind: Kind, receiverTime: Int64? = nil, clockTime: Int64? = nil, isClockUsed: Bool, text: String, remedy: String
    ) {
        self.kind = kind
        self.receiverTime = receiverTime
        self.clockTime = clockTime
        self.isClockUsed = isClockUsed
        self.text = text
        self.remedy = remedy
    }

    enum CodingKeys: String, CodingKey {
        case kind, text, remedy
        case receiverTime = "receiver_time"
        case clockTime = "clock_time"
        case isClockUsed = "clock_used"
    }
}

/// The vehicle's system clock. Points do not depend on it. The agent may judge certificates by it.
package struct ClockStatus: Codable, Hashable, Sendable {
    /// Whether the kernel says that a program keeps the clock right.
    package var synchronised: Bool
    /// Milliseconds by which the server's clock was ahead at the last login, negative when behind. Nil before a login.
    package var serverDifference: Int64?

    package init(synchronised: Bool, serverDifference: Int64? = nil) {
        self.synchronised = synchronised
        self.serverDifference = serverDifference
    }

    enum CodingKeys: String, CodingKey {
        case synchronised
        case serverDifference = "server_difference"
    }
}
