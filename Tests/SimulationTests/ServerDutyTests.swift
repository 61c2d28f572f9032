import Testing
import TrackModel
import TrackTestKit

@testable import SystemSimulation

/// What the checker asks beside the points: one session a stream, an answer when nothing keeps the server from it, and no
/// point that waits longer than its pack.
@Suite struct ServerDutyTests {
    private let loop = VirtualLoop()
    private let stream = StreamID(high: 0, low: 1)

    private func session() -> VirtualSocket {
        let socket = VirtualSocket(side: .server, loop: loop)
        socket.begin()
        return socket
    }

    @Test func aLoginReplacesTheOpenSessionOfItsStream() {
        let sockets = (0..<4).map { _ in session() }
        var model = SessionModel()
        #expect(model.welcomed(sockets[0], stream).isEmpty)
        #expect(model.welcomed(sockets[1], StreamID(high: 0, low: 2)).isEmpty)
        #expect(model.welcomed(sockets[2], stream).map(ObjectIdentifier.init) == [ObjectIdentifier(sockets[0])])
        sockets[0].sever()
        #expect(model.welcomed(sockets[3], stream).map(ObjectIdentifier.init) == [ObjectIdentifier(sockets[2])])
    }

    @Test func anAnswerIsOwedWhenNothingKeepsTheServerFromIt() {
        var model = AnswerModel()
        #expect(model.isOwed(100_000, lastCall: 80_000))
        #expect(!model.isOwed(100_000, lastCall: 90_000), "the store has just been asked")
        model.network(isWell: true, 90_000)
        #expect(model.isOwed(100_000, lastCall: 80_000))
        model.serves(80_000)
        #expect(!model.isOwed(100_000, lastCall: 80_000), "the server has just begun")
        #expect(model.isOwed(105_001, lastCall: 80_000))
        model.network(isWell: false, 100_000)
        #expect(!model.isOwed(125_000, lastCall: 80_000), "the network was in trouble")
        #expect(model.isOwed(125_001, lastCall: 80_000))
    }

    @Test func aNetworkIsWellWhenEveryByteArrives() {
        let network = VirtualNetwork(loop: loop, seed: 1)
        #expect(network.isWell)
        network.latency = 500
        #expect(!network.isWell)
        network.heal()
        let connection = VirtualConnection(network: network, agent: session(), server: session())
        #expect(network.isWell)
        connection.cut(agentBytes: .max, serverBytes: 100, reset: false)
        #expect(!network.isWell)
        connection.drop(.agent)
        connection.drop(.server)
        #expect(network.isWell)
    }

    @Test func aPointMayWaitForItsPackWhenNothingWasWrongForLong() {
        var model = PromptnessModel(now: 0)
        func limit(_ now: MonotonicTime, gather: Int64 = 5, pack: Int64 = 30, isWell: Bool = true) -> Int64? {
            model.limit(isWell: isWell, gather: gather, pack: pack, now)
        }
        #expect(limit(0) == nil)
        #expect(limit(180_000) == nil)
        #expect(limit(180_001) == 50_000)
        #expect(limit(200_000, pack: 20) == nil, "points may wait for the pack of before")
        #expect(limit(380_001, pack: 20) == 40_000)
        #expect(limit(390_000, pack: 20, isWell: false) == nil)
        #expect(limit(570_001, pack: 20) == 40_000)
        model.trouble(570_001)
        #expect(limit(570_002, pack: 20) == nil)
    }

    @Test func aWaitCountsFromTheLastTroubleOn() {
        var model = PromptnessModel(now: 0)
        #expect(model.counted(wait: 351_000, 400_000) == 351_000)
        model.trouble(100_000)
        #expect(model.counted(wait: 351_000, 400_000) == 300_000, "a disk may have taken the point late")
    }
}
