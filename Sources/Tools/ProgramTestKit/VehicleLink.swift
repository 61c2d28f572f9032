/// The link between agent and server, which a test can disturb.
package protocol VehicleLink: AnyObject, Sendable {
    /// What the link is made of, for people.
    var kind: String { get }
    /// The networks of the two programs.
    var agentNetwork: NetworkNamespace? { get }
    var serverNetwork: NetworkNamespace? { get }
    /// The name under which the agent reaches the server.
    var serverHost: String { get }
    /// The port under which the agent reaches a server that listens on this port.
    func port(for serverPort: Int) throws -> Int
    /// Sets the weather, until the next call.
    func set(_ weather: LinkWeather) throws
    /// Bytes that the agent's side has sent, and bytes that the server's side has received, so far.
    var passed: (sent: Int, delivered: Int) { get }
}

extension VehicleLink {
    package func heal() throws { try set(.fair) }
}

/// What is wrong with a link.
package enum LinkWeather: Hashable, Sendable {
    case fair
    /// Every piece takes so many milliseconds.
    case slow(ClosedRange<Int>)
    /// Of a thousand packets, so many are lost, doubled, or held until later packets have overtaken them. A link
    /// without packets delivers small pieces late.
    case rough(lost: Int, doubled: Int, late: Int)
    /// The link takes everything and delivers nothing: a tunnel, a dead cell, a router that forgot the connection.
    case silent
    /// One direction is lost: everything to the agent, or everything to the server.
    case deafAgent, deafServer
    /// Existing connections fall silent, new ones work: a NAT entry has expired.
    case forgotten
    /// Silent after so many more bytes of the agent, even in the middle of a message.
    case silentAfter(bytes: Int)
    /// The interface is down. Every attempt fails at once.
    case down
    /// Connections end with a reset, and new ones work.
    case reset
}

extension LinkWeather: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fair: "fair"
        case .slow(let range): "delayed \(range.lowerBound)-\(range.upperBound) ms"
        case .rough(let lost, let doubled, let late): "lossy \(lost)/\(doubled)/\(late) of 1000"
        case .silent: "silent"
        case .deafAgent: "deaf agent"
        case .deafServer: "deaf server"
        case .forgotten: "NAT entry gone"
        case .silentAfter(let bytes): "silent after \(bytes) bytes"
        case .down: "down"
        case .reset: "reset"
        }
    }

    /// Connections are lost or will be lost.
    package var isCut: Bool {
        switch self {
        case .silentAfter, .forgotten, .down, .reset, .silent: true
        case .fair, .slow, .rough, .deafAgent, .deafServer: false
        }
    }
}
