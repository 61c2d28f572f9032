internal import AgentControl
internal import AgentLogic
internal import TrackModel

/// What people are told of the link.
struct LinkWatch {
    private(set) var state = LinkState.closed
    private var since: SystemTime
    var session: String?
    /// TLS version and cipher of the present link.
    var encryption: String?
    private var lastError: String?
    private var lastErrorCause: LinkTrouble.Cause?
    private var nextTry: SystemTime?
    /// Since when there has been no session, by both clocks; nil while there is a session, and while none is wanted.
    private var offline: (since: SystemTime, at: MonotonicTime)?

    init(since: SystemTime) {
        self.since = since
    }

    /// False when the same trouble goes on: the agent tells a trouble once, not at each try.
    mutating func change(_ new: LinkState, now: MonotonicTime, at time: SystemTime) -> Bool {
        let before = lastError
        if state != new { since = time }
        state = new
        nextTry = nil
        switch new {
        case .online, .closed: offline = nil
        case .connecting, .handshaking, .loggingIn, .waiting, .refused: offline = offline ?? (time, now)
        case .closing: break
        }
        switch new {
        case .connecting, .waiting, .refused, .closed: encryption = nil
        case .handshaking, .loggingIn, .online, .closing: break
        }
        switch new {
        case .online: (lastError, lastErrorCause) = (nil, nil)
        case .waiting(let until, let trouble), .refused(let until, let trouble):
            (lastError, lastErrorCause) = (trouble.reason, trouble.cause)
            session = nil
            nextTry = SystemTime(milliseconds: time.milliseconds + max(0, until - now))
        case .closed:
            session = nil
            (lastError, lastErrorCause) = (nil, nil)
        case .connecting, .handshaking, .loggingIn, .closing: break
        }
        return lastError != before
    }

    /// Seconds without a session although one is wanted.
    func offlineSeconds(now: MonotonicTime) -> Double {
        offline.map { Double(max(0, now - $0.at)) / 1000 } ?? 0
    }

    /// Seconds without a session, 0 with one; nil: none is wanted.
    func silence(now: MonotonicTime) -> Int64? {
        if case .online = state { return 0 }
        return offline.map { max(0, now - $0.at) / 1000 }
    }

    /// `server` as in `track.example.org:7443`; `attempts` since the last login.
    func status(server: String, attempts: UInt64) -> LinkStatus {
        let told: LinkStatus.State
        switch state {
        case .closed: told = .closed
        case .connecting: told = .connecting
        case .handshaking: told = .handshaking
        case .loggingIn: told = .loggingIn
        case .online: told = .online
        case .waiting: told = .waiting
        case .refused: told = .refused
        case .closing: told = .closing
        }
        return LinkStatus(
            state: told, since: since.milliseconds, server: server, session: session, lastError: lastError,
            lastErrorCause: lastErrorCause?.rawValue, nextTryTime: nextTry?.milliseconds,
            attempts: Int64(clamping: attempts), encryption: encryption,
            offlineSince: offline?.since.milliseconds)
    }
}
