import Ingest
import TrackModel
import TrackStore
import TrackWire

extension SessionMachine {
    /// Actions of the shell for the machine. The shell performs them in their order.
    enum Action: Hashable {
        /// Give the session a number and ask the store; `admitted` follows.
        case admit(LoginRequest)
        /// Enter the session into the registry, and tell the one that it replaces.
        case register(LoginRequest, began: Timestamp)
        /// Take the session out of the registry.
        case unregister
        /// Claim another entity than the Hello's for this session; `streamOpened` follows.
        case openStream(StreamID, of: EntityKey)
        /// Look where the entity was at its points within these ranges; `placesFound` follows.
        case findPlaces(of: EntityKey, [ClosedRange<Timestamp>])
        /// Ask the writer for memory; `reserved` follows at once.
        case reserve(Reservation, cost: Int)
        /// Give memory back that was reserved.
        case release(cost: Int)
        /// Hand a batch to the writer, with the memory that was reserved for it.
        case submit(ticket: UInt64, IngestBatch, cost: Int)
        /// Tell the writer that the session submits nothing more.
        case forget
        /// Begin a call unless too many are at work; `callStarted` follows at once, and `callAnswered` later.
        case startCall(UInt64, Call)
        case cancelCall(UInt64)
        /// Ask the store for the pushes that wait after this cursor; `pushesLoaded` follows.
        case loadPushes(after: StoreCursor?, limit: Int)
        /// Ask the store for the entity's fences; `fencesLoaded` follows.
        case loadFences(since: Int64, around: Coordinate?)
        /// Send `nextFences` while the channel is writable, and again when it becomes writable.
        case sendFences
        /// Tell the store, and the entity's other sessions.
        case settlePushes([PushOutcomeWriter.Outcome])
        case send(ServerFrame)
        /// Send and count the push, but only while the channel is writable: pushes that an agent does not read must not
        /// pile up here. The next attempt sends the push.
        case sendPush(Push)
        /// From now on a frame may be so long, bytes.
        case acceptFrames(upTo: Int)
        /// Note a sign of life, with how the vehicle is if it has told.
        case heard(HealthReport?)
        /// Note that the vehicle has said goodbye.
        case left
        /// Show the live hint of the entity, which no track has yet.
        case show(TrackPoint)
        /// Call `timerFired` once after this time; replaces an earlier timer of the same name.
        case setTimer(SessionTimer, milliseconds: Int64)
        case cancelTimer(SessionTimer)
        /// Cancel every timer and all work: nothing is waited for any more.
        case abandon
        /// Count the note, and log it if it belongs into the log.
        case note(SessionNote)
        /// Close the connection as TLS does it.
        case close
        /// Close the connection below TLS, because TLS has had its time.
        case cutOff
    }

    /// The writer's answer to a reservation.
    enum ReservationAnswer: Hashable {
        /// The memory is the session's.
        case granted
        /// `spaceIsFree` follows when it may be asked for again.
        case later
        /// Nothing is taken, for this reason: the server's clock is wrong.
        case clockWrong(String)
    }

    /// What the store knows of an entity's fences.
    enum FenceAnswer: Hashable, Sendable {
        /// Nil: nothing that the agent must hear of.
        case update(FenceFeed.Update?)
        case failed
    }

    /// Why nobody may log in.
    enum Barrier: Hashable {
        /// The server stops.
        case stopping
        /// The server takes no points, for this reason.
        case clockWrong(String)
        /// All places have sessions, and no service has more than the vehicle's.
        case crowded
    }

    /// What memory is reserved for.
    enum Reservation: Hashable {
        /// The frame that is held.
        case frame
        /// A live hint.
        case hint
    }
}

/// The timers of a ``SessionMachine``.
enum SessionTimer: Hashable {
    /// The deadline of the phase.
    case phase
    case pushes
    /// The store did not tell the fences: ask again.
    case fences
    /// The deadline of a call, by the connection's own number of it.
    case call(UInt64)
}

/// Notes of a session for the counters and the log.
enum SessionNote: Hashable {
    case handshakeFailed
    /// The login broke a rule, or the store refused it.
    case loginRefused(LoginRefusal, entity: String)
    /// The connection ended before its login. `entity`: of the Hello, nil when none came.
    case loginEnded(LoginRefusal, entity: String?)
    case loggedIn(agentVersion: String)
    case violation(String)
    /// `firstReason`: nil when the log is not to tell of it.
    /// `ahead`: so many of them are dated too far ahead of the server's clock.
    case pointsRefused(Int, ahead: Int, firstReason: String?)
    case attributesIgnored(Set<String>, isFirst: Bool)
    case hintRefused
    /// Another agent uses the stream: so many points were stored apart, and so many refused.
    case streamShared(rescued: Int, refused: Int, isFirst: Bool)
    case pushAcknowledged
    case pushGivenUp(id: UInt64, type: UInt32)
}

/// How a session ends before its connection does.
enum SessionEnd: Hashable {
    /// The agent closes.
    case goodbye
    /// The agent broke a rule of the protocol.
    case violation(String)
    /// The agent is told why, and how many seconds to stay away.
    case closing(ClosingCode, String, retryAfter: UInt32)

    /// A batch was not stored. `busy`: what an agent is told to wait when the store refuses points, seconds.
    init(_ failure: IngestFailure, busy: UInt32) {
        switch failure {
        case .busy: self = .closing(.busy, "the store cannot take points now", retryAfter: busy)
        case .full: self = .closing(.unable, StoreRefusal.full, retryAfter: busy)
        case .clock: self = .closing(.unable, "the server's clock is wrong: set it on the server", retryAfter: busy)
        case .unknownService:
            self = .closing(.internal, "the service does not exist any more: log in again", retryAfter: 1)
        case .replaced:
            self = .closing(
                .replaced, "a newer connection logged in with the same stream, or the entity was deleted",
                retryAfter: 60)
        case .rewound: self = .closing(.busy, "the store has lost points: log in again", retryAfter: busy)
        case .failed: self = .closing(.internal, "the store failed; the server's log says why", retryAfter: 60)
        }
    }
}

/// What a vehicle is told when the server's store takes nothing, as far as somebody at the server must act.
enum StoreRefusal {
    static let full = "the server's disk is full: make room on the server (saker-server doctor says where)"
}

/// The actions of an open session after an event, and the end of the session if the event ends it.
struct SessionStep: Hashable {
    var actions: [SessionMachine.Action]
    var end: SessionEnd?

    init(_ actions: [SessionMachine.Action] = [], end: SessionEnd? = nil) {
        self.actions = actions
        self.end = end
    }

    /// This step and then the next one, which must not follow an end.
    static func + (first: Self, second: Self) -> Self {
        SessionStep(first.actions + second.actions, end: first.end ?? second.end)
    }
}
