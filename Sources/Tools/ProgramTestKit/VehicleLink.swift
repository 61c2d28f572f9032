/// The way between agent and server, which a test can spoil.
package protocol VehicleLink: AnyObject, Sendable {
    /// For people: what it is made of.
    var kind: String { get }
    /// Where the two programs live.
    var agentNetwork: NetworkNamespace? { get }
    var serverNetwork: NetworkNamespace? { get }
    /// The name under which the agent reaches the server.
    var serverHost: String { get }
    /// The port under which the agent reaches a server that listens on this one.
    func port(for serverPort: Int) throws -> Int
    /// From now on, until the next call.
    func set(_ weather: LinkWeather) throws
    /// Bytes that the agent's side was rid of and bytes that the server's side got, so far.
    var passed: (sent: Int, delivered: Int) { get }
}

extension VehicleLink {
    package func heal() throws { try set(.fair) }
}

/// What is wrong with a link.
package enum LinkWeather: Hashable, Sendable {
    case fair
    /// Every piece takes so long, in milliseconds.
    case slow(ClosedRange<Int>)
    /// Of a thousand packets, so many are lost, doubled, and held back until later ones have overtaken them. Where
    /// there are no packets to lose, bytes come in crumbs and late.
    case rough(lost: Int, doubled: Int, late: Int)
    /// Everything is taken and nothing arrives: a tunnel, a dead cell, a router that forgot.
    case silent
    /// What the agent says arrives, the answers do not; or the other way round.
    case deafAgent, deafServer
    /// Connections that exist fall silent, new ones work: a NAT entry has run out.
    case forgotten
    /// Silent after so many more bytes of the agent's, wherever in a message that is.
    case silentAfter(bytes: Int)
    /// The interface is down: every try fails at once.
    case down
    /// Connections end, hard, and new ones work.
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

    /// Connections are lost, or will be.
    package var isCut: Bool {
        switch self {
        case .silentAfter, .forgotten, .down, .reset, .silent: true
        case .fair, .slow, .rough, .deafAgent, .deafServer: false
        }
    }
}
