internal import NIOCore
internal import TrackTestKit

/// TCP between agents and server, as bad as TCP can be: late, in pieces, cut at any byte, dead without a word.
final class VirtualNetwork {
    /// How a new connection fares.
    enum Reach {
        case works
        case refuses
        /// Nothing ever answers.
        case swallows
    }

    let loop: VirtualLoop
    var dice: DiskDice
    var reach = Reach.works
    /// Milliseconds each way, and by how much they vary.
    var latency: Int64 = 40
    var jitter: Int64 = 20
    /// Bytes at a time, at most: 1 tears everything apart.
    var largestPiece = 1460
    /// One TLS handshake in so many is slow, perhaps slower than a link waits; nil: none.
    private(set) var slowHandshakeOdds: Int? = 40
    private(set) var bytesLost = 0
    /// When a connection ceased to carry everything, for the last time.
    private(set) var harmedAt = NIODeadline.uptimeNanoseconds(0)
    private(set) var connections: [VirtualConnection] = []

    init(loop: VirtualLoop, seed: UInt64) {
        self.loop = loop
        dice = DiskDice(seed: seed)
    }

    /// The network works from now on, for good. An agent that waits five minutes between two tries may only have one try
    /// in the time that the checker gives it, so that try must succeed.
    func heal() {
        reach = .works
        (latency, jitter, largestPiece) = (40, 20, 1460)
        slowHandshakeOdds = nil
    }

    /// How many round trips the next TLS handshake takes.
    func handshakeTrips() -> Int64 {
        guard let slowHandshakeOdds, dice.one(in: slowHandshakeOdds) else { return 3 }
        return Int64.random(in: 10...400, using: &dice)
    }

    /// Nothing is wrong with it, nor with a connection that is open.
    var isWell: Bool {
        reach == .works && latency <= 40 && jitter <= 20 && largestPiece >= 1460
            && connections.allSatisfy(\.isWell)
    }

    func add(_ connection: VirtualConnection) { connections.append(connection) }
    func remove(_ connection: VirtualConnection) { connections.removeAll { $0 === connection } }
    func lost(_ bytes: Int) { bytesLost += bytes }
    func harmed() { harmedAt = loop.now }

    func delay() -> Int64 { latency + Int64.random(in: 0...max(jitter, 0), using: &dice) }
}

/// One TCP connection: two ends, two directions.
final class VirtualConnection {
    enum Side { case agent, server }

    /// Bytes on their way in one direction, in order.
    private struct Direction {
        /// Bytes that arrived and were not read.
        var arrived: [UInt8] = []
        var readyAt: NIODeadline = .uptimeNanoseconds(0)
        var underWay = 0
        /// So many more bytes arrive, then none; nil: all.
        var allowance: Int?
        var endIsSent = false
        var endHasArrived = false
    }

    private let network: VirtualNetwork
    private var agentEnd: VirtualSocket?
    private var serverEnd: VirtualSocket?
    private var toServer = Direction()
    private var toAgent = Direction()
    /// Nobody hears anything any more, and nobody is told.
    private var isSilent: Bool { silentAt != nil }
    /// Since when; nil: it carries what it should.
    private(set) var silentAt: NIODeadline?
    private var resetWhenCut = false
    private var isHarmed = false {
        didSet { if !oldValue { network.harmed() } }
    }

    init(network: VirtualNetwork, agent: VirtualSocket, server: VirtualSocket) {
        self.network = network
        agentEnd = agent
        serverEnd = server
        agent.connection = self
        server.connection = self
        network.add(self)
    }

    // MARK: Faults

    /// After so many more bytes in a direction nothing arrives; with `reset` both ends are told then.
    func cut(agentBytes: Int, serverBytes: Int, reset: Bool) {
        toServer.allowance = min(toServer.allowance ?? .max, agentBytes)
        toAgent.allowance = min(toAgent.allowance ?? .max, serverBytes)
        resetWhenCut = reset
        if reset, agentBytes == 0 || serverBytes == 0 { reset_() }
    }

    /// The peer's machine is gone without a word.
    func fallSilent() { silentAt = silentAt ?? network.loop.now }

    /// A process died and its kernel says so.
    func abort(_ side: Side) {
        drop(side)
        schedule { connection in connection.reset_() }
    }

    /// A machine died: its end exists no more.
    func drop(_ side: Side) {
        switch side {
        case .agent:
            agentEnd?.sever()
            agentEnd = nil
        case .server:
            serverEnd?.sever()
            serverEnd = nil
        }
        forgetIfDone()
    }

    private func reset_() {
        fallSilent()
        agentEnd?.resetByPeer()
        serverEnd?.resetByPeer()
        agentEnd = nil
        serverEnd = nil
        forgetIfDone()
    }

    /// Every byte arrives.
    var isWell: Bool { !isSilent && toServer.allowance == nil && toAgent.allowance == nil }

    var isOver: Bool { agentEnd == nil && serverEnd == nil }

    private func forgetIfDone() {
        if isOver { network.remove(self) }
    }

    // MARK: Bytes

    func send(_ bytes: [UInt8], from side: Side) {
        guard !isSilent else { return network.lost(bytes.count) }
        var start = 0
        while start < bytes.count {
            let most = min(network.largestPiece, bytes.count - start)
            // Either as it was written or torn somewhere.
            let size = network.dice.one(in: 3) ? Int.random(in: 1...most, using: &network.dice) : most
            carry(Array(bytes[start..<start + size]), from: side)
            start += size
        }
    }

    /// Bytes that a side has sent and the other has not read.
    func unread(from side: Side) -> Int { direction(side).underWay + direction(side).arrived.count }

    func end(from side: Side) {
        switch side {
        case .agent:
            agentEnd = nil
            if !toServer.endIsSent { toServer.endIsSent = true }
        case .server:
            serverEnd = nil
            if !toAgent.endIsSent { toAgent.endIsSent = true }
        }
        guard !isSilent else { return forgetIfDone() }
        arrival(from: side) { connection in
            connection.update(side) { $0.endHasArrived = true }
            connection.deliver(from: side)
        }
        forgetIfDone()
    }

    private func carry(_ piece: [UInt8], from side: Side) {
        update(side) { $0.underWay += piece.count }
        arrival(from: side) { connection in
            connection.update(side) { $0.underWay -= piece.count }
            guard !connection.isSilent else { return connection.network.lost(piece.count) }
            var taken = piece.count
            if let allowance = connection.direction(side).allowance {
                taken = min(taken, allowance)
                connection.update(side) { $0.allowance = allowance - taken }
                connection.network.lost(piece.count - taken)
                if taken < piece.count { connection.isHarmed = true }
            }
            guard connection.receiver(of: side) != nil else {
                // Nobody is there to take it: the sender is told.
                return connection.schedule { $0.reset_() }
            }
            connection.update(side) { $0.arrived += piece.prefix(taken) }
            connection.deliver(from: side)
            if taken < piece.count, connection.resetWhenCut { connection.schedule { $0.reset_() } }
        }
    }

    /// In order: never before what was sent earlier.
    private func arrival(from side: Side, _ action: @escaping (VirtualConnection) -> Void) {
        let at = max(direction(side).readyAt, network.loop.now + .milliseconds(network.delay()))
        update(side) { $0.readyAt = at }
        network.loop.at(at) { [self] in action(self) }
    }

    private func schedule(_ action: @escaping (VirtualConnection) -> Void) {
        network.loop.after(network.delay()) { [self] in action(self) }
    }

    /// Gives what has arrived to the receiver, if it wants to read.
    func deliver(from side: Side) {
        guard let end = receiver(of: side), end.isReading else { return }
        var bytes = direction(side).arrived
        if bytes.isEmpty {
            guard direction(side).endHasArrived else { return }
            guard direction(side).allowance == nil else {
                isHarmed = true
                return
            }
            switch side {
            case .agent: serverEnd = nil
            case .server: agentEnd = nil
            }
            end.endedByPeer()
            return forgetIfDone()
        }
        // What a read returns need not be all there is.
        if bytes.count > 1, network.dice.one(in: 4) {
            bytes = Array(bytes.prefix(Int.random(in: 1..<bytes.count, using: &network.dice)))
        }
        update(side) { $0.arrived.removeFirst(bytes.count) }
        end.take(bytes)
    }

    private func receiver(of side: Side) -> VirtualSocket? { side == .agent ? serverEnd : agentEnd }
    private func direction(_ side: Side) -> Direction { side == .agent ? toServer : toAgent }
    private func update(_ side: Side, _ change: (inout Direction) -> Void) {
        if side == .agent { change(&toServer) } else { change(&toAgent) }
    }
}
