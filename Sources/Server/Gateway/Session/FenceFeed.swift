import TrackModel
import TrackWire

/// Decides which server fences go to the agent of one session, and when: after the login, and when some have changed.
struct FenceFeed: Hashable {
    enum Action: Hashable {
        /// Ask the store what has changed since a version; 0: for all fences. `around`: where the vehicle is, as far as known.
        case load(since: Int64, around: Coordinate?)
        /// Parts are ready: send them while the channel is writable.
        case send
        case setTimer(milliseconds: Int64)
    }

    /// What the store had.
    struct Update: Hashable {
        /// The agent has this version when it has all parts.
        let version: Int64
        let parts: [FenceUpdate]
    }

    /// Milliseconds until the store is asked again after it failed.
    static let retry: Int64 = 5000

    private enum Reading: Hashable {
        case idle
        /// `isOutdated`: something has changed since the store was asked.
        case asking(isOutdated: Bool)
    }

    /// Of the agent, when it has taken what was sent.
    private var version: Int64
    private var reading = Reading.idle
    private var place: Coordinate?
    /// The agent asked for what is around another place: all is sent anew.
    private var wantsAll = false
    /// Something has changed meanwhile: the store is asked when the last part is sent.
    private var wantsNext = false
    /// Not sent yet; reversed.
    private var parts: [FenceUpdate] = []

    /// `version`: of the fences that the agent has; 0: none.
    init(version: Int64) {
        self.version = version
    }

    /// The session begins, or fences that concern its entity may have changed.
    mutating func mayHaveChanged() -> [Action] {
        if case .asking = reading {
            reading = .asking(isOutdated: true)
            return []
        }
        // The version of the agent is known when it has all parts.
        guard parts.isEmpty else {
            wantsNext = true
            return []
        }
        reading = .asking(isOutdated: false)
        return [.load(since: wantsAll ? 0 : version, around: place)]
    }

    /// The vehicle is about to leave the reach of its fences.
    mutating func asked(around place: Coordinate) -> [Action] {
        self.place = place
        wantsAll = true
        return mayHaveChanged()
    }

    /// The store's answer; `update` nil: nothing that the agent must hear of.
    mutating func loaded(_ update: Update?) -> [Action] {
        guard case .asking(let isOutdated) = reading else { return [] }
        reading = .idle
        wantsAll = false
        if let update {
            version = update.version
            parts = update.parts.reversed()
        }
        wantsNext = isOutdated
        if parts.isEmpty, isOutdated {
            wantsNext = false
            return mayHaveChanged()
        }
        return parts.isEmpty ? [] : [.send]
    }

    /// The store did not answer.
    mutating func failed() -> [Action] {
        guard case .asking = reading else { return [] }
        reading = .idle
        return [.setTimer(milliseconds: Self.retry)]
    }

    /// The next part for the agent; nil when there is none.
    mutating func next() -> (part: FenceUpdate?, actions: [Action]) {
        let part = parts.popLast()
        guard part != nil, parts.isEmpty, wantsNext else { return (part, []) }
        wantsNext = false
        return (part, mayHaveChanged())
    }

    var hasParts: Bool { !parts.isEmpty }
}
