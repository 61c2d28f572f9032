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
