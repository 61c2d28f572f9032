import Testing
import TrackModel
import TrackStore

@testable import Gateway

@Suite struct SessionClaimsTests {
    private let stream = StreamID(high: 1, low: 2)

    private func key(_ name: String) throws -> EntityKey {
        EntityKey(service: try #require(ServiceID(rawValue: 1)), name: name)
    }

    private func claim(_ epoch: Int64, _ storedThrough: UInt64) -> StreamClaim {
        StreamClaim(epoch: epoch, storedThrough: storedThrough, version: 0)
    }

    private func position(_ epoch: Int64, _ previous: UInt64, _ first: UInt64, _ count: UInt32) -> StreamPosition {
        StreamPosition(stream: stream, epoch: epoch, previous: previous, first: first, count: count)
    }

    @Test func theEntityOfTheHelloIsClaimedByTheLogin() throws {
        let van = try key("van")
        var claims = SessionClaims(stream, of: van, claim(5, 40))
        #expect(claims.step(for: van, isIdle: true) == .submit)
        #expect(claims.step(for: van, isIdle: false) == .submit)
        #expect(claims.position(of: van, first: 41, count: 6) == position(5, 40, 41, 6))
        #expect(claims.position(of: van, first: 50, count: 1) == position(5, 46, 50, 1))
        // An older part does not move what is believed.
        #expect(claims.position(of: van, first: 3, count: 2) == position(5, 50, 3, 2))
        #expect(claims.position(of: van, first: 51, count: 1) == position(5, 50, 51, 1))
    }

    @Test func anotherEntityWaitsForAllBeforeItAndIsClaimedFirst() throws {
        let (van, bus) = (try key("van"), try key("bus"))
        var claims = SessionClaims(stream, of: van, claim(5, 0))
        #expect(claims.position(of: bus, first: 1, count: 1) == nil)
        #expect(claims.step(for: bus, isIdle: false) == .wait)
        #expect(claims.step(for: bus, isIdle: true) == .open)
        // Nothing goes on until it is open, not even the own entity.
        #expect(claims.step(for: bus, isIdle: true) == .wait)
        #expect(claims.step(for: van, isIdle: true) == .wait)
        claims.opened(claim(9, 7))
        #expect(claims.step(for: bus, isIdle: false) == .submit)
        #expect(claims.position(of: bus, first: 8, count: 3) == position(9, 7, 8, 3))
        #expect(claims.position(of: bus, first: 11, count: 3) == position(9, 10, 11, 3))
    }

    @Test func theOwnClaimIsNeverMadeAnew() throws {
        let (van, bus, tram) = (try key("van"), try key("bus"), try key("tram"))
        var claims = SessionClaims(stream, of: van, claim(5, 0))
        #expect(claims.step(for: bus, isIdle: true) == .open)
        claims.opened(claim(6, 0))
        // Back to the own entity, its claim stands, but what is under way of the other must be stored first.
        #expect(claims.step(for: van, isIdle: false) == .wait)
        #expect(claims.step(for: van, isIdle: true) == .submit)
        #expect(claims.position(of: van, first: 20, count: 2) == position(5, 0, 20, 2))
        #expect(claims.step(for: tram, isIdle: false) == .wait)
        #expect(claims.step(for: tram, isIdle: true) == .open)
        claims.opened(claim(7, 0))
        #expect(claims.position(of: bus, first: 30, count: 1) == nil)
        #expect(claims.step(for: bus, isIdle: true) == .open)
    }

    @Test func namesAreTheirBytes() throws {
        var claims = SessionClaims(stream, of: try key("caf\u{E9}"), claim(5, 0))
        #expect(claims.step(for: try key("cafe\u{301}"), isIdle: true) == .open)
    }
}
