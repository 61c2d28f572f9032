internal import TrackModel
internal import TrackWire

/// What the server of the present session has heard of the vehicle's health.
struct HealthTeller {
    /// How the vehicle is now; nil: nobody can say.
    private let read: () -> HealthReport?
    /// Nil: nothing yet in this session.
    private var told: HealthReport?
    /// When a server was told last, in this session or before; nil: never.
    private(set) var toldTime: SystemTime?

    init(_ read: @escaping () -> HealthReport?) { self.read = read }

    mutating func loggedIn() { told = nil }

    /// Whether something is other than the server knows, and an operator should hear of it. False before the first report
    /// of a session, which goes by itself.
    var hasNews: Bool {
        guard let told, let now = read() else { return false }
        return now.isNews(after: told)
    }

    /// The next heartbeat, with the health when the server takes it. `time`: now.
    mutating func heartbeat(to terms: LinkTerms, at time: SystemTime) -> Heartbeat {
        var heartbeat = Heartbeat()
        guard terms.healthInterval > 0 else { return heartbeat }
        told = read()
        if told != nil { toldTime = time }
        heartbeat.report = told
        return heartbeat
    }
}
