package import TrackModel

/// A push in the history.
package struct PushRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Not acknowledged yet: the agent is not connected, or the server is trying.
        case waiting
        case delivered
        /// A session did not acknowledge it in time; the next login within its lifetime tries again.
        case givenUp = "given-up"
        /// Its lifetime ended before anybody acknowledged it.
        case expired
        /// Its entity was deleted before anybody acknowledged it.
        case withdrawn
    }

    package var push: PendingPush
    /// The name of its entity, which may have been deleted since.
    package var entity: String
    package var expires: Timestamp
    package var acknowledged: Timestamp?
    package var givenUp: Timestamp?
    package var withdrawn: Timestamp?

    package init(
        push: PendingPush, entity: String, expires: Timestamp, acknowledged: Timestamp? = nil,
        givenUp: Timestamp? = nil, withdrawn: Timestamp? = nil
    ) {
        self.push = push
        self.entity = entity
        self.expires = expires
        self.acknowledged = acknowledged
        self.givenUp = givenUp
        self.withdrawn = withdrawn
    }

    package func state(at now: Timestamp) -> State {
        if acknowledged != nil { return .delivered }
        if withdrawn != nil { return .withdrawn }
        if expires <= now { return .expired }
        return givenUp == nil ? .waiting : .givenUp
    }
}
