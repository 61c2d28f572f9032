import NIOCore
import NIOEmbedded
import Testing

@testable import SecureLink

@Suite(.timeLimit(.minutes(5)), .serialized) struct HandlerTests {
    let workshop: Workshop

    init() throws { workshop = try Workshop() }

    @Test(arguments: [1, 2, 5, 100, Int.max])
    func theHandshakeAndRecordsMayArriveInAnyPieces(piece: Int) throws {
        let link = try LinkedChannels(workshop)
        try link.pump(piece: piece)
        #expect(link.seen.events == ["active", "peer"])
        try link.client.writeOutbound(ByteBuffer(string: "up"))
        try link.server.writeOutbound(ByteBuffer(string: "down"))
        try link.pump(piece: piece)
        #expect(try link.serverReceived() == Array("up".utf8))
        #expect(link.seen.bytes == Array("down".utf8))
        link.finish()
    }

    @Test func whatIsWrittenBeforeTheHandshakeWaitsForIt() throws {
        let link = try LinkedChannels(workshop)
        let promise = link.client.eventLoop.makePromise(of: Void.self)
        var completed = false
        promise.futureResult.assumeIsolated().whenSuccess { completed = true }
        link.client.writeAndFlush(ByteBuffer(string: "early"), promise: promise)
        #expect(!completed)
        try link.pump()
        #expect(completed)
        #expect(try link.serverReceived() == Array("early".utf8))
        link.finish()
    }

    @Test func manySmallWritesTravelInOneRecord() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        link.sent = []
        for _ in 0..<100 { link.client.write(ByteBuffer(string: "0123456789"), promise: nil) }
        try link.pump()
        #expect(link.sent.isEmpty)
        link.client.flush()
        try link.pump()
        // A record costs 5 bytes of header, 1 of content type and 16 of authentication.
        #expect(link.sent == [1000 + 22])
        #expect(try link.serverReceived().count == 1000)
        link.finish()
    }

    @Test func aFlushTakesOnlyWhatWasWrittenBeforeIt() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        link.client.write(ByteBuffer(string: "a"), promise: nil)
        link.client.flush()
        link.client.write(ByteBuffer(string: "b"), promise: nil)
        try link.pump()
        #expect(try link.serverReceived() == Array("a".utf8))
        link.finish()
    }

    @Test func largeWritesFillTheirRecords() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        link.sent = []
        try link.client.writeOutbound(ByteBuffer(repeating: 7, count: 1_000_000))
        try link.pump()
        let records = (1_000_000 + TLSSession.maximumRecord - 1) / TLSSession.maximumRecord
        #expect(link.sent.reduce(0, +) == 1_000_000 + records * 22)
        #expect(try link.serverReceived().count == 1_000_000)
        link.finish()
    }

    @Test func readsAreHandedOnInBoundedPieces() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        try link.server.writeOutbound(ByteBuffer(repeating: 7, count: 1_000_000))
        var all = ByteBuffer()
        while let bytes = try link.server.readOutbound(as: IOData.self) {
            if case .byteBuffer(var bytes) = bytes { all.writeBuffer(&bytes) }
        }
        try link.client.writeInbound(all)
        #expect(link.seen.bytes.count == 1_000_000)
        #expect(link.seen.largestRead <= 65_536)
        link.finish()
    }

    @Test func anIdleConnectionHoldsNoBuffers() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        try link.server.writeOutbound(ByteBuffer(repeating: 7, count: 100_000))
        try link.pump()
        #expect(link.session.transport.inbound.capacity == 0)
        #expect(link.session.transport.outbound.capacity == 0)
        link.finish()
    }

    @Test func morePendingThanTheLimitClosesTheConnection() throws {
        let link = try LinkedChannels(workshop, limits: SecureLink.Limits(unsentBytes: 10_000))
        try link.pump()
        var failed: (any Error)?
        link.client.write(ByteBuffer(repeating: 1, count: 10_000), promise: nil)
        link.client.write(ByteBuffer(repeating: 1, count: 1)).assumeIsolated().whenFailure { failed = $0 }
        #expect(failed as? SecureLinkError == SecureLinkError(.sendBufferFull, ""))
        #expect(link.seen.errors == [SecureLinkError(.sendBufferFull, "")])
        #expect(!link.client.isActive)
        link.finish()
    }

    @Test func theLimitHoldsBeforeTheHandshakeToo() throws {
        let link = try LinkedChannels(workshop, limits: SecureLink.Limits(unsentBytes: 10_000))
        link.client.writeAndFlush(ByteBuffer(repeating: 1, count: 9_999), promise: nil)
        link.client.writeAndFlush(ByteBuffer(repeating: 1, count: 9_999), promise: nil)
        #expect(throws: SecureLinkError(.sendBufferFull, "")) { try link.peer.wait() }
        #expect(link.seen.events.isEmpty)
        link.finish()
    }

    @Test func theHandshakeHasADeadline() throws {
        let link = try LinkedChannels(workshop, limits: SecureLink.Limits(handshake: .seconds(10)))
        var failure: (any Error)?
        link.peer.assumeIsolated().whenFailure { failure = $0 }
        link.client.embeddedEventLoop.advanceTime(by: .milliseconds(9_999))
        #expect(failure == nil)
        link.client.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(failure as? SecureLinkError == SecureLinkError(.handshakeTimeout, ""))
        #expect(!link.client.isActive)
        #expect(link.seen.events.isEmpty)
        link.finish()
    }

    @Test func aDoneHandshakeHasNoDeadlineLeft() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        link.client.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(link.client.isActive)
        link.finish()
    }

    @Test func aResumedHandshakeCostsFewerBytes() throws {
        let context = try TLSContext(TLSClientOptions(trust: .authorities(file: workshop.authority.certificate)))
        let identity = try workshop.issue("good")
        let keys = try LinkedChannels.serverContext(identity)
        var costs: [Int] = []
        for _ in 0..<2 {
            let link = try LinkedChannels(workshop, context: context, serverContext: keys)
            try link.pump()
            costs.append(link.carried)
            try link.server.writeOutbound(ByteBuffer(string: "tickets come along"))
            try link.pump()
            link.finish()
        }
        print("handshake bytes, both ways: full \(costs[0]), resumed \(costs[1])")
        #expect(costs[1] < costs[0])
    }

    // MARK: - Ends

    @Test func aCloseSaysGoodbyeAndWaitsForThePeers() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        var closed = false
        link.client.close().assumeIsolated().whenSuccess { closed = true }
        #expect(!closed && link.client.isActive)
        try link.pump()
        #expect(closed && !link.client.isActive)
        #expect(!link.server.isActive)
        #expect(link.seen.events == ["active", "peer", "inactive"])
        link.finish()
    }

    @Test func aCloseWaitsForAStalledPeerOnlySoLong() throws {
        let link = try LinkedChannels(workshop, limits: SecureLink.Limits(goodbye: .seconds(2)))
        try link.pump()
        var closed = 0
        for _ in 0..<2 { link.client.close().assumeIsolated().whenSuccess { closed += 1 } }
        link.client.embeddedEventLoop.advanceTime(by: .milliseconds(1_999))
        #expect(closed == 0)
        link.client.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(closed == 2)
        link.finish()
    }

    @Test func aCloseDuringTheHandshakeCancelsIt() throws {
        let link = try LinkedChannels(workshop)
        try link.client.close().wait()
        #expect(throws: SecureLinkError(.cancelled, "")) { try link.peer.wait() }
        #expect(link.seen.events.isEmpty)
        link.finish()
    }

    @Test func writesAfterACloseFail() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        link.client.close(promise: nil)
        var failed = false
        link.client.writeAndFlush(ByteBuffer(string: "late")).assumeIsolated().whenFailure { _ in failed = true }
        #expect(failed)
        try link.pump()
        link.finish()
    }

    @Test func afterClosingItsOutputItStillReads() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        var failed = false
        link.session.sayGoodbye()
        try link.server.writeOutbound(ByteBuffer(string: "still here"))
        try link.pump()
        #expect(link.seen.bytes == Array("still here".utf8))
        link.client.close(mode: .input).assumeIsolated().whenFailure { _ in failed = true }
        #expect(failed)
        link.finish()
    }

    @Test func aPeersGoodbyeIsAnsweredAndCloses() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        link.server.close(promise: nil)
        try link.pump()
        #expect(!link.client.isActive)
        #expect(link.seen.events == ["active", "peer", "inactive"])
        #expect(!link.server.isActive)
        link.finish()
    }

    @Test func withHalfClosureAPeersGoodbyeLeavesTheOtherWayOpen() throws {
        let link = try LinkedChannels(workshop, halfClosure: true)
        try link.pump()
        link.server.close(promise: nil)
        while let bytes = try link.server.readOutbound(as: IOData.self) {
            if case .byteBuffer(let bytes) = bytes { try link.client.writeInbound(bytes) }
        }
        #expect(link.seen.events == ["active", "peer", "inputClosed"])
        #expect(link.client.isActive)
        var written = false
        link.client.writeAndFlush(ByteBuffer(string: "last words")).assumeIsolated().whenSuccess { written = true }
        #expect(written)
        try link.client.close().wait()
        #expect(link.seen.events.last == "inactive" && link.seen.errors.isEmpty)
        link.finish()
    }

    @Test func anEndWithoutGoodbyeIsAnError() throws {
        let link = try LinkedChannels(workshop)
        try link.pump()
        link.client.pipeline.fireChannelInactive()
        #expect(link.seen.errors == [SecureLinkError(.closedByPeer, "")])
        #expect(link.seen.events == ["active", "peer", "error", "inactive"])
        link.finish()
    }

    @Test func everySingleWrongByteEndsTheConnectionAndDeliversNothing() throws {
        // A record of 4 bytes has 26 on the wire; a wrong length waits for more and delivers nothing either.
        for index in 0..<26 {
            let link = try LinkedChannels(workshop)
            try link.pump()
            // The server sends its session tickets with its first bytes.
            try link.server.writeOutbound(ByteBuffer(string: "first"))
            try link.pump()
            link.seen.bytes = []
            try link.server.writeOutbound(ByteBuffer(string: "gold"))
            guard case .byteBuffer(var bytes)? = try link.server.readOutbound(as: IOData.self) else { continue }
            try #require(bytes.readableBytes == 26)
            let wrong = try #require(bytes.getInteger(at: bytes.readerIndex + index, as: UInt8.self)) ^ 1
            bytes.setInteger(wrong, at: bytes.readerIndex + index)
            try link.client.writeInbound(bytes)
            #expect(link.seen.bytes.isEmpty, "byte \(index)")
            #expect(link.seen.errors.count == (link.client.isActive ? 0 : 1))
            #expect(!link.client.isActive || index == 3 || index == 4)
            link.finish()
        }
    }

    @Test func everySessionIsFreed() throws {
        // Other suites make sessions meanwhile: weak references tell about ours.
        var sessions: [Weak] = []
        for end in 0..<4 {
            try { () throws -> Void in
                let link = try LinkedChannels(workshop)
                sessions.append(Weak(session: link.session))
                if end > 0 { try link.pump() }
                if end > 1 { link.client.close(promise: nil) }
                if end > 2 { try link.pump() }
                link.finish()
            }()
        }
        #expect(sessions.allSatisfy { $0.session == nil })
    }

    private struct Weak {
        weak var session: TLSSession?
    }
}
