import TrackModel
import TrackStore

/// The claims by which a session stores: on its stream for the entity of its Hello, and for one other entity at a time.
///
/// The agent's cache may hold points of entities that the agent was logged in as before; their batches come in the same
/// stream. Such an entity is claimed before its first batch, and only when every batch before is stored. So no batch is
/// ever stored ahead of an earlier one, an acknowledgement covers all that came before it, and the claim on the Hello's
/// entity, which only a login makes, is never taken back from a newer session.
struct SessionClaims: Hashable {
    enum Step: Hashable {
        /// The entity is claimed.
        case submit
        /// Open the stream for the entity, then tell ``opened(_:)``.
        case open
        /// Ask again when a batch is settled or a claim was opened.
        case wait
    }

    private struct Held: Hashable {
        var entity: EntityKey
        var epoch: Int64
        /// What earlier sessions stored.
        let base: UInt64
        /// What is stored, as far as this session knows.
        var previous: UInt64
    }

    private let stream: StreamID
    private var own: Held
    private var other: Held?
    /// The entity of the batch before.
    private var current: EntityKey
    /// The stream is being opened for this one.
    private var opening: EntityKey?

    /// `claim`: the claim of the login.
    init(_ stream: StreamID, of entity: EntityKey, _ claim: StreamClaim) {
        self.stream = stream
        own = Held(entity: entity, epoch: claim.epoch, base: claim.storedThrough, previous: claim.storedThrough)
        current = entity
    }

    /// What to do with a batch of an entity. `isIdle`: no batch of this session is on its way to the store.
    mutating func step(for entity: EntityKey, isIdle: Bool) -> Step {
        if opening != nil { return .wait }
        guard entity == current || isIdle else { return .wait }
        current = entity
        guard entity != own.entity, entity != other?.entity else { return .submit }
        opening = entity
        return .open
    }

    /// The stream was opened as told.
    mutating func opened(_ claim: StreamClaim) {
        guard let entity = opening else { return }
        opening = nil
        other = Held(
            entity: entity, epoch: claim.epoch, base: claim.storedThrough, previous: claim.storedThrough)
    }

    /// What earlier sessions of the stream stored for a claimed entity; 0 without a claim.
    func base(of entity: EntityKey) -> UInt64 {
        guard let held = entity == own.entity ? own : other, held.entity == entity else { return 0 }
        return held.base
    }

    /// Where a batch of a claimed entity stands; the next one stands behind it. Nil without a claim.
    mutating func position(of entity: EntityKey, first: UInt64, count: UInt32) -> StreamPosition? {
        guard var held = entity == own.entity ? own : other, held.entity == entity else { return nil }
        let position = StreamPosition(
            stream: stream, epoch: held.epoch, previous: held.previous, first: first, count: count)
        held.previous = max(held.previous, position.last)
        if entity == own.entity { own = held } else { other = held }
        return position
    }
}
