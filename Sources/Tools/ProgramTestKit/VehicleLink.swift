import Foundation
import Synchronization

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

/// A TCP proxy on the loopback that cuts, stalls, delays and half-opens connections: the link of a run that may not
/// make networks.
package final class CuttingProxy: VehicleLink {
    private struct State {
        var weather = LinkWeather.fair
        var dice: Dice
        /// A cut raises the age; connections of an earlier age end.
        var age = 0
        var bytesLeft = Int.max
        var target = 0
        var sent = 0
        var delivered = 0
    }

    package var kind: String { "a TCP proxy on the loopback" }
    package var agentNetwork: NetworkNamespace? { nil }
    package var serverNetwork: NetworkNamespace? { nil }
    package var serverHost: String { "127.0.0.1" }
    private let listener: ListeningSocket
    private let state: Mutex<State>

    package init(seed: UInt64) throws {
        listener = try ListeningSocket()
        state = Mutex(State(dice: Dice(seed: seed)))
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while let client = listener.accept() {
                Thread.detachNewThread { [weak self] in self?.begin(client) ?? { _ = close(client) }() }
            }
            listener.close()
        }
    }

    deinit { listener.end() }

    package func port(for serverPort: Int) -> Int {
        state.withLock { $0.target = serverPort }
        return listener.port
    }

    package var passed: (sent: Int, delivered: Int) { state.withLock { ($0.sent, $0.delivered) } }

    package func set(_ weather: LinkWeather) {
        state.withLock { state in
            // The bytes that a silent link has dropped never arrive, so its connections cannot continue.
            if weather == .down || weather == .reset || weather == .forgotten || state.weather.swallows {
                state.age += 1
            }
            state.weather = weather
            state.bytesLeft = .max
            if case .silentAfter(let bytes) = weather { state.bytesLeft = bytes }
        }
    }

    // MARK: One connection

    private func begin(_ client: Int32) {
        let (weather, age, target) = state.withLock { ($0.weather, $0.age, $0.target) }
        guard weather != .down, let server = try? LoopbackSocket.connect(port: target) else {
            Self.reset(client)
            return
        }
        let connection = Connection(client: client, server: server, age: age)
        carry(connection)
    }

    private struct Connection {
        let client: Int32
        let server: Int32
        let age: Int
    }

    private enum Fate { case pass, swallow, end }

    /// Copies until one side ends, or until the weather ends the connection.
    private func carry(_ connection: Connection) {
        let ends = [(connection.client, connection.server), (connection.server, connection.client)]
        var buffer = [UInt8](repeating: 0, count: 16_384)
        defer {
            Self.reset(connection.client)
            Self.reset(connection.server)
        }
        while fate(of: connection) != .end {
            var ready = ends.map { pollfd(fd: $0.0, events: Int16(POLLIN), revents: 0) }
            guard poll(&ready, 2, 20) >= 0 || errno == EINTR else { return }
            for (index, end) in ends.enumerated() where ready[index].revents != 0 {
                let isFromAgent = index == 0
                let count = recv(end.0, &buffer, crumb(buffer.count), 0)
                guard count > 0 else {
                    // Behind a silent link, the other side does not learn that this side is gone.
                    while fate(of: connection) == .swallow { pause(milliseconds: 20) }
                    return
                }
                switch fate(of: connection, count: count, isFromAgent: isFromAgent) {
                case .end: return
                case .swallow: continue
                case .pass: break
                }
                guard Self.sendAll(buffer[..<count], to: end.1) else { return }
                if isFromAgent { state.withLock { $0.delivered += count } }
            }
        }
    }

    private static func sendAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let moved = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard moved > 0 else { return false }
            rest = rest.dropFirst(moved)
        }
        return true
    }

    /// Decides what happens to `count` bytes (0: to the connection). Counts the bytes, and waits as long as the weather
    /// says.
    private func fate(of connection: Connection, count: Int = 0, isFromAgent: Bool = true) -> Fate {
        let (fate, delay) = state.withLock { state -> (Fate, Int) in
            if isFromAgent {
                state.sent += count
                state.bytesLeft -= state.bytesLeft == .max ? 0 : count
            }
            if connection.age < state.age { return (state.weather == .forgotten ? .swallow : .end, 0) }
            switch state.weather {
            case .fair, .reset, .forgotten: return (.pass, 0)
            case .down: return (.end, 0)
            case .slow(let range): return (.pass, count == 0 ? 0 : Int.random(in: range, using: &state.dice))
            case .rough: return (.pass, count == 0 ? 0 : Int.random(in: 0...10, using: &state.dice))
            case .silent: return (.swallow, 0)
            case .deafAgent: return (isFromAgent ? .pass : .swallow, 0)
            case .deafServer: return (isFromAgent ? .swallow : .pass, 0)
            case .silentAfter: return (state.bytesLeft < 0 ? .swallow : .pass, 0)
            }
        }
        if delay > 0 { pause(milliseconds: delay) }
        return fate
    }

    private func crumb(_ most: Int) -> Int {
        state.withLock { state in
            guard case .rough = state.weather else { return most }
            return Int.random(in: 1...200, using: &state.dice)
        }
    }

    /// Closes with a reset, as the kernel of a crashed peer does.
    private static func reset(_ descriptor: Int32) {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
    }
}

extension LinkWeather {
    /// The link takes bytes that will never arrive.
    fileprivate var swallows: Bool {
        switch self {
        case .silent, .deafAgent, .deafServer, .silentAfter, .forgotten: true
        case .fair, .slow, .rough, .down, .reset: false
        }
    }
}
