import NIOCore
import NIOEmbedded
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Gateway

/// What one vehicle may take of what all vehicles share.
@Suite struct FairSharesTests {
    private func vehicle(_ name: String, _ service: Int64 = 1) throws -> EntityKey {
        EntityKey(service: try #require(ServiceID(rawValue: service)), name: name)
    }

    private func limits(_ change: (inout GatewayLimits) -> Void) -> GatewayLimits {
        var limits = GatewayLimits()
        change(&limits)
        return limits
    }

    // MARK: Calls

    @Test func aVehicleHasAFewCallsAtWork() throws {
        var shares = CallShares(limits { ($0.callsOfAll, $0.callsOfVehicle) = (100, 3) })
        let (van, bus) = (try vehicle("van"), try vehicle("bus"))
        #expect((0..<5).map { _ in shares.begin(van) } == [true, true, true, false, false])
        let other = shares.begin(bus)
        #expect(other)
        shares.end(van)
        let again = shares.begin(van)
        #expect(again && shares.count == 4)
    }

    @Test func aServiceLeavesPlacesToOthers() throws {
        var shares = CallShares(limits { ($0.callsOfAll, $0.callsOfVehicle) = (100, 1) })
        var taken = 0
        for number in 0..<200 where shares.begin(try vehicle("\(number)")) { taken += 1 }
        #expect(taken == 75)
        var others = 0
        for number in 0..<200 where shares.begin(try vehicle("\(number)", 2)) { others += 1 }
        #expect(others == 25)
        #expect(shares.count == 100)
    }

    @Test func whatBeginsEnds() throws {
        let seed = UInt64.random(in: .min ... .max)
        var dice = SplitMix(state: seed)
        let limits = limits { ($0.callsOfAll, $0.callsOfVehicle) = (20, 4) }
        var shares = CallShares(limits)
        var open: [EntityKey] = []
        for _ in 0..<5000 {
            if Bool.random(using: &dice) {
                let key = try vehicle(
                    "\(Int.random(in: 0..<8, using: &dice))", Int64.random(in: 1...3, using: &dice))
                if shares.begin(key) { open.append(key) }
            } else if let index = open.indices.randomElement(using: &dice) {
                shares.end(open.remove(at: index))
            }
            #expect(shares.count == open.count && open.count <= 20, "seed \(seed)")
            #expect(Dictionary(grouping: open) { $0 }.values.allSatisfy { $0.count <= 4 }, "seed \(seed)")
        }
        for key in open { shares.end(key) }
        #expect(shares == CallShares(limits))
    }

    // MARK: Logins

    @Test func aVehicleLogsInSoOftenAndNoOtherWaitsForIt() throws {
        var rates = LoginRates(limits { ($0.logins, $0.loginInterval) = (3, 5000) })
        let (van, bus) = (try vehicle("van"), try vehicle("bus"))
        #expect((0..<4).map { _ in rates.arrives(van, at: .at(0)) } == [nil, nil, nil, 5000])
        #expect(rates.arrives(bus, at: .at(0)) == nil)
        #expect(rates.arrives(van, at: .at(4)) == 1000)
        #expect(rates.arrives(van, at: .at(5)) == nil)
        #expect(rates.arrives(van, at: .at(5)) == 5000)
        // A clock that was set back gives nothing, and locks nobody out for longer.
        #expect(rates.arrives(van, at: .at(-9000)) == 5000)
        #expect(rates.arrives(van, at: .at(-8995)) == nil)
    }

    // MARK: Several computers of one device

    private func session(_ number: UInt64, _ address: String, start: [UInt8]? = nil) -> CertificateSharingRules.Session
    {
        CertificateSharingRules.Session(number: number, address: address, start: start)
    }

    @Test func anOlderSessionThatStillSpeaksIsAnotherComputers() {
        let two = [session(1, "a"), session(2, "b", start: [1])]
        #expect(CertificateSharingRules.other(of: 1, among: two) == "b")
        // The newer one may be the same vehicle in another network.
        #expect(CertificateSharingRules.other(of: 2, among: two) == nil)
        #expect(CertificateSharingRules.other(of: 1, among: [session(1, "a"), session(2, "a")]) == nil)
        // Both say which start it is: CloneDetector knows better.
        #expect(
            CertificateSharingRules.other(of: 1, among: [session(1, "a", start: [1]), session(2, "b", start: [2])])
                == nil)
    }

    @Test func threeStreamsFromTwoAddressesAreNotOneAgents() {
        let three = [session(1, "a"), session(2, "a"), session(3, "b")]
        #expect(CertificateSharingRules.other(of: 3, among: three) == "a")
        #expect(
            CertificateSharingRules.other(of: 3, among: [session(1, "b"), session(2, "b"), session(3, "b")]) == nil)
        #expect(CertificateSharingRules.other(of: 9, among: three) == nil)
    }

    // MARK: Connections

    /// Whoever came first is told first, wherever its channel lies in memory: a simulated history is the same each time.
    @Test func connectionsKeepTheirOrder() {
        let census = ConnectionCensus(limits: GatewayLimits())
        let channels = (0..<40).map { _ in EmbeddedChannel() }
        for channel in channels { #expect(census.enter(channel).isAdmitted) }
        census.leave(channels[7])
        let left = channels.enumerated().filter { $0.offset != 7 }.map { ObjectIdentifier($0.element) }
        #expect(census.channels.map { ObjectIdentifier($0) } == left)
    }

    /// The place is free at once: the connection that goes may end later than the newcomer logs in.
    @Test func thePlaceOfASpareSessionIsFreeBeforeItsConnectionEnds() throws {
        let service = try vehicle("van").service
        let census = ConnectionCensus(limits: limits { $0.connections = 2 })
        let (old, new, other) = (EmbeddedChannel(), EmbeddedChannel(), EmbeddedChannel())
        for channel in [old, new] {
            #expect(census.enter(channel).isAdmitted)
            #expect(census.takePlace(channel, of: service).isTaken)
        }
        census.keepsPlace(old, isSpare: true)
        let entrance = census.enter(other)
        #expect(entrance.isAdmitted && entrance.replaced === old)
        let place = census.takePlace(other, of: service)
        #expect(place.isTaken && place.replaced == nil)
        census.leave(old)
        let late = EmbeddedChannel()
        #expect(census.enter(late).isAdmitted)
        #expect(!census.takePlace(late, of: service).isTaken)
    }

    /// The vehicle has got its newer session after the newcomer was let in.
    @Test func aSessionThatBecomesSpareGoesForALogin() throws {
        let service = try vehicle("van").service
        let census = ConnectionCensus(limits: limits { $0.connections = 2 })
        let (old, new, other) = (EmbeddedChannel(), EmbeddedChannel(), EmbeddedChannel())
        for channel in [old, new] {
            #expect(census.enter(channel).isAdmitted)
            #expect(census.takePlace(channel, of: service).isTaken)
        }
        #expect(census.enter(other).replaced == nil)
        #expect(!census.takePlace(other, of: service).isTaken)
        census.keepsPlace(old, isSpare: true)
        let place = census.takePlace(other, of: service)
        #expect(place.isTaken && place.replaced === old)
    }
}
