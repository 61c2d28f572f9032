import Ingest
import TrackWire

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
