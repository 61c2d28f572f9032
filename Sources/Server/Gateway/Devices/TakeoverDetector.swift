import TrackModel
import TrackStore

/// Notices several computers with the certificate and the stream of one device, which end each other's sessions at every login,
/// where ``CloneDetector`` has no proof. Knows no clock, no session and no store.
///
/// An agent closes a connection before it makes the next one. So the connection that loses its stream to a newer login is a dead
/// one, as a bad link, another network or another address of a router leave it behind: nobody answers when the server closes it.
/// The agent of another computer answers with its own goodbye of TLS, which nobody on the way can make.
///
/// A goodbye that an honest vehicle has sent long before may come late, after a gap of its network. It comes then within the moment
/// between the new login and the end of the old connection, seldom; three times in a row, without a dead connection in between, it
/// does not.
///
/// A program that has the certificate and answers nothing shows itself by its haste. An agent whose networks change makes one
/// attempt a second at most, and one that loses its sessions otherwise waits longer each time.
struct TakeoverDetector: Sendable {
    /// So many sessions in a row answered when a login took their stream, within ``span``.
    static let answers = 3
    static let span: Int64 = 3_600_000
    /// So many logins in a row took the stream of a session from another address, within ``haste``.
    static let moves = 6
    static let haste: Int64 = 4000

    private struct Device: Hashable {
        var answered: [Timestamp] = []
        var moved: [Timestamp] = []
        var seen: Timestamp
    }

    private let mostDevices: Int
    private var devices: [DeviceID: Device] = [:]

    /// `devices`: the bound on memory; who was seen longest ago is forgotten.
    init(devices: Int = 10_000) { mostDevices = max(devices, 1) }

    /// A login has taken the stream of an open session. `isElsewhere`: from another address. True: the operator should know.
    mutating func taken(_ id: DeviceID, isElsewhere: Bool, at now: Timestamp) -> Bool {
        change(id, at: now) { device in
            guard isElsewhere else {
                device.moved = []
                return false
            }
            return Self.add(now, to: &device.moved, most: Self.moves, within: Self.haste)
        }
    }

    /// The session that has lost its stream has ended. `isAnswered`: its agent has answered the server's goodbye.
    mutating func ended(_ id: DeviceID, isAnswered: Bool, at now: Timestamp) -> Bool {
        change(id, at: now) { device in
            guard isAnswered else {
                device.answered = []
                return false
            }
            return Self.add(now, to: &device.answered, most: Self.answers, within: Self.span)
        }
    }

    /// Somebody has put the device in order.
    mutating func forget(_ id: DeviceID) { devices[id] = nil }

    var count: Int { devices.count }

    private static func add(_ now: Timestamp, to times: inout [Timestamp], most: Int, within span: Int64) -> Bool {
        times = times.filter { (0...span).contains(now.milliseconds(since: $0)) }.suffix(most - 1) + [now]
        return times.count == most
    }

    private mutating func change(_ id: DeviceID, at now: Timestamp, _ change: (inout Device) -> Bool) -> Bool {
        if devices[id] == nil { makeRoom() }
        var device = devices[id] ?? Device(seen: now)
        device.seen = now
        defer { devices[id] = device }
        return change(&device)
    }

    /// A tenth at a time, so that a full table does not cost a search at each login.
    private mutating func makeRoom() {
        guard devices.count >= mostDevices else { return }
        let oldest = devices.sorted { $0.value.seen < $1.value.seen }.prefix(max(mostDevices / 10, 1))
        for (id, _) in oldest { devices[id] = nil }
    }
}
