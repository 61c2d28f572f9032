import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Enrolment

@Suite("How fast claims are taken") struct EnrolmentLimitsTests {
    private let token = TokenHash(of: "good")

    private func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(milliseconds: Int64(seconds * 1000)) }

    private func origin(_ address: String) -> EnrolmentLimits.Origin { EnrolmentLimits.Origin(address) }

    @Test func anAddressWithoutAGoodTokenIsSlowedHard() {
        var limits = EnrolmentLimits()
        var taken = 0
        // An hour of hammering, ten times a second, each time with another token.
        for step in 0..<36_000 {
            let hash = TokenHash(of: "\(step)")
            if limits.arrives(from: origin("a"), token: hash, at: time(Double(step) / 10)) == .goOn { taken += 1 }
        }
        #expect((360...375).contains(taken), "\(taken)")
        // Its credit comes back one by one.
        _ = limits.arrives(from: origin("a"), token: nil, at: time(3600))
        guard case .wait(let wait) = limits.arrives(from: origin("a"), token: nil, at: time(3600)) else {
            Issue.record("it goes on")
            return
        }
        #expect((1...10).contains(wait))
        // Nobody else is held off by it.
        #expect(limits.arrives(from: origin("b"), token: nil, at: time(3600)) == .goOn)
    }

    @Test func aGoodTokenGetsInFromAnAddressThatHammers() {
        var limits = EnrolmentLimits()
        limits.found(token, from: origin("elsewhere"), at: time(0))
        for step in 0..<1000 { _ = limits.arrives(from: origin("a"), token: TokenHash(of: "\(step)"), at: time(0)) }
        #expect(limits.arrives(from: origin("a"), token: TokenHash(of: "x"), at: time(0)) != .goOn)
        #expect(limits.arrives(from: origin("a"), token: token, at: time(0)) == .goOn)
        limits.lost(token)
        #expect(limits.arrives(from: origin("a"), token: token, at: time(0)) != .goOn)
    }

    @Test func aTokenCountsAsGoodForAWhileOnly() {
        var limits = EnrolmentLimits()
        limits.found(token, from: origin("b"), at: time(0))
        for _ in 0..<20 { _ = limits.arrives(from: origin("a"), token: nil, at: time(599)) }
        #expect(limits.arrives(from: origin("a"), token: token, at: time(599)) == .goOn)
        // Then the store must say so again.
        guard case .needsGoodToken = limits.arrives(from: origin("a"), token: token, at: time(600)) else {
            Issue.record("nobody asks the store")
            return
        }
        limits.found(token, from: origin("a"), at: time(600))
        #expect(limits.arrives(from: origin("a"), token: token, at: time(600)) == .goOn)
    }

    @Test func theStoreIsAskedForStrangersWithoutCreditInBoundsOnly() {
        var limits = EnrolmentLimits()
        var asked = 0
        for step in 0..<600 {
            let hash = TokenHash(of: "\(step)")
            if case .needsGoodToken = limits.arrives(from: origin("a"), token: hash, at: time(Double(step) / 100)) {
                asked += 1
            }
        }
        // 60 at once, and ten a second.
        #expect((100...125).contains(asked), "\(asked)")
        #expect(limits.arrives(from: origin("b"), token: nil, at: time(6)) == .goOn)
    }

    /// One who has the token must not keep out all others who have it.
    @Test func oneAddressGetsHalfOfATokensTurnsAtMost() {
        var limits = EnrolmentLimits()
        limits.found(token, from: origin("greedy"), at: time(0))
        var (greedy, modest) = (0, 0)
        for step in 0..<60_000 {
            let now = time(Double(step) / 1000)
            if limits.arrives(from: origin("greedy"), token: token, at: now) == .goOn { greedy += 1 }
            if step % 1000 == 0, limits.arrives(from: origin("modest"), token: token, at: now) == .goOn { modest += 1 }
        }
        #expect((1200...1300).contains(greedy), "\(greedy)")
        #expect(modest == 60)
    }

    /// Whoever has a /48 has 65,536 networks of 64 bits.
    @Test func aSiteOfManyNetworksKeepsNobodyOut() {
        var limits = EnrolmentLimits()
        var taken = 0
        for network in 0..<5000 {
            let origin = EnrolmentLimits.Origin("2001:db8:0:\(network)::/64", site: "2001:db8:0::/48")
            for _ in 0..<20 where limits.arrives(from: origin, token: nil, at: time(0)) == .goOn { taken += 1 }
        }
        #expect((1...300).contains(taken), "\(taken)")
        #expect(limits.arrives(from: origin("192.0.2.1"), token: nil, at: time(0)) == .goOn)
        #expect(
            limits.arrives(
                from: EnrolmentLimits.Origin("2001:db8:1::/64", site: "2001:db8:1::/48"), token: nil, at: time(0))
                == .goOn)
    }

    /// Also with as many addresses as anybody may have, a new one has a budget of its own.
    @Test func aFullTableKeepsNobodyOut() {
        var limits = EnrolmentLimits()
        for address in 0..<5000 {
            for _ in 0..<20 { _ = limits.arrives(from: origin("\(address)"), token: nil, at: time(0)) }
        }
        for _ in 0..<10 { #expect(limits.arrives(from: origin("new"), token: nil, at: time(0)) == .goOn) }
        #expect(limits.arrives(from: origin("new"), token: nil, at: time(0)) != .goOn)
    }

    @Test func whoShowsAGoodTokenPaysNothingForTheFirstLook() {
        var limits = EnrolmentLimits()
        for step in 0..<100 {
            let hash = TokenHash(of: "\(step)")
            #expect(limits.arrives(from: origin("a"), token: hash, at: time(0)) == .goOn, "\(step)")
            limits.found(hash, from: origin("a"), at: time(0))
        }
        for _ in 0..<100 {
            #expect(limits.arrives(from: origin("b"), token: nil, at: time(0)) == .goOn)
            limits.foundDevice(from: origin("b"))
        }
    }

    /// Ten thousand boxes behind one address switch on within a second, and each comes again when it is told to.
    @Test func tenThousandBoxesOfOneImageGetInWithinTenMinutes() {
        var limits = EnrolmentLimits()
        var due: [(at: Int64, box: Int)] = (0..<10_000).map { (Int64($0 % 1000), $0) }
        var asked: [Int: Int] = [:]
        var last: Int64 = 0
        while !due.isEmpty {
            due.sort { $0.at < $1.at }
            var later: [(at: Int64, box: Int)] = []
            for (at, box) in due {
                asked[box, default: 0] += 1
                let now = MonotonicTime(milliseconds: at)
                var answer = limits.arrives(from: origin("nat"), token: token, at: now)
                if case .needsGoodToken = answer {
                    limits.found(token, from: origin("nat"), at: now)
                    answer = limits.arrives(from: origin("nat"), token: token, at: now)
                }
                switch answer {
                case .wait(let wait), .needsGoodToken(let wait): later.append((at + wait * 1000, box))
                case .goOn:
                    limits.found(token, from: origin("nat"), at: now)
                    last = max(last, at)
                }
            }
            due = later
        }
        #expect(asked.count == 10_000)
        #expect(last < 600_000, "\(last) ms")
        let most = asked.values.max() ?? 0
        #expect(most <= 4, "a box asked \(most) times")
    }

    @Test func theMemoryIsBounded() {
        var limits = EnrolmentLimits()
        for step in 0..<6000 {
            let origin = EnrolmentLimits.Origin("\(step)", site: "\(step)")
            _ = limits.arrives(from: origin, token: nil, at: time(0))
            limits.found(TokenHash(of: "\(step)"), from: origin, at: time(0))
            _ = limits.arrives(from: origin, token: TokenHash(of: "5999"), at: time(0))
        }
        #expect(
            limits.remembered
                <= EnrolmentLimits.mostAddresses + EnrolmentLimits.mostSites + EnrolmentLimits.mostTokens)
        #expect(limits.arrives(from: origin("new"), token: nil, at: time(3600)) == .goOn)
    }

    @Test func whateverTheClockSaysNothingTraps() {
        var dice = SplitMix(state: 7)
        var limits = EnrolmentLimits()
        for _ in 0..<10_000 {
            let now = MonotonicTime(milliseconds: Int64.random(in: .min ... .max, using: &dice))
            let hash = TokenHash(of: "\(Int.random(in: 0..<3, using: &dice))")
            let from = EnrolmentLimits.Origin("\(Int.random(in: 0..<3, using: &dice))", site: "s")
            switch limits.arrives(from: from, token: hash, at: now) {
            case .goOn: break
            case .wait(let wait), .needsGoodToken(let wait): #expect((0...700).contains(wait))
            }
            if Bool.random(using: &dice) { limits.found(hash, from: origin("1"), at: now) }
        }
    }

    @Test func everyOutcomeIsCounted() {
        let counters = EnrolmentCounters()
        counters.count(.issued)
        counters.count(.refused(.tokenUnknown))
        counters.count(.refused(.tokenUnknown))
        let counts = counters.counts
        #expect(counts.count == 4 + EnrolmentRefusal.Code.allCases.count)
        #expect(
            counts.filter { $0.count > 0 }.map { "\($0.outcome.name) \($0.count)" } == ["issued 1", "token_unknown 2"])
    }
}
