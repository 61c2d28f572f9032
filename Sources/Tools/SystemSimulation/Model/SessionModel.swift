internal import TrackModel

/// The sessions that one server process has let in: at most one for each stream, from soon after the newer login.
struct SessionModel {
    private var sockets: [StreamID: [VirtualSocket]] = [:]

    /// How long the server may take to close the session that a newer one replaces, milliseconds.
    static let patience: Int64 = 2000

    /// A login succeeded. Returns the sessions that it replaces.
    mutating func welcomed(_ socket: VirtualSocket, _ stream: StreamID) -> [VirtualSocket] {
        let former = sockets[stream, default: []].filter(\.isActive)
        sockets[stream] = former + [socket]
        return former
    }
}
