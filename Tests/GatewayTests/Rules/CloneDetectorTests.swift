import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Gateway

/// Two computers with one certificate, in virtual time.
@Suite struct CloneDetectorTests {
    private static let minute: Int64 = 60_000
    private let van = DeviceID.sample(1)

    private func start(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 16) }

    /// A connection that was taken at a second, and whose Hello came 40 ms later unless it says otherwise.
    private func arrival(_ boot: UInt8, _ second: Int64, greeted: Int64? = nil) -> DeviceArrival {
        DeviceArrival(
            boot: start(boot), connected: MonotonicTime(milliseconds: second * 1000),
            greeted: MonotonicTime(milliseconds: greeted.map { $0 * 1000 } ?? second * 1000 + 40))
    }

    private func refuses(
        _ watch: inout CloneDetector, _ boot: UInt8, _ second: Int64, live: Set<UInt8> = []
    ) -> Bool {
        watch.loggedIn(van, arrival(boot, second), from: "10.0.0.\(boot)", live: Set(live.map(start))) != .admitted
    }

    // MARK: Who is a clone

    @Test func theThirdLoginOfTwoComputersProvesThem() {
        var watch = CloneDetector()
        #expect(watch.loggedIn(van, arrival(1, 10), from: "a", live: []) == .admitted)
        #expect(watch.loggedIn(van, arrival(2, 20), from: "b", live: [start(1)]) == .admitted)
        #expect(!watch.hasRefused(van))
        #expect(watch.loggedIn(van, arrival(1, 30), from: "c", live: [start(2)]) == .cloned(other: "b", isNew: true))
        #expect(watch.hasRefused(van))
        #expect(watch.loggedIn(van, arrival(2, 40), from: "d", live: []) == .cloned(other: "c", isNew: false))
        // Another device has nothing to do with it.
        #expect(watch.loggedIn(.sample(2), arrival(1, 50), from: "a", live: []) == .admitted)
    }

    @Test func aComputerThatRestartsIsNone() {
        var watch = CloneDetector()
        for (boot, second) in [(1, 10), (1, 20), (2, 30), (2, 40), (3, 50), (3, 60)] as [(UInt8, Int64)] {
            #expect(!refuses(&watch, boot, second, live: [boot]))
        }
    }

    @Test func aLoginThatTheServerAnswersLateProvesNothing() {
        var watch = CloneDetector()
        #expect(!refuses(&watch, 1, 10))
        // The store was slow: the login of the start before is judged behind that of the next one.
        #expect(!refuses(&watch, 2, 30))
        #expect(!refuses(&watch, 1, 20))
        #expect(!refuses(&watch, 2, 40))
        // The connection was taken before the restart, and the Hello read long after it.
        let late = arrival(1, 25, greeted: 300)
        #expect(watch.loggedIn(van, late, from: "a", live: []) == .admitted)
        #expect(!refuses(&watch, 2, 310))
    }

    @Test(arguments: 0..<200 as Range<UInt64>) func oneComputerIsNeverAClone(seed: UInt64) {
        var random = SplitMix(state: seed &* 7919)
        var events: [(at: Int64, arrival: DeviceArrival)] = []
        var clock: Int64 = 0
        for boot in 1...UInt8(random.below(12) + 1) {
            let end = clock + random.below(3_600_000) + 1
            for _ in 0..<random.below(8) {
                // Taken before the computer answered, and answered while it ran; what it sent may come at any time after it.
                let answered = clock + random.below(end - clock + 1)
                let connected = max(answered - random.below(20_000), 0)
                let greeted = answered + (random.below(3) == 0 ? random.below(7_200_000) : random.below(500))
                let found = DeviceArrival(
                    boot: start(boot), connected: MonotonicTime(milliseconds: connected),
                    greeted: MonotonicTime(milliseconds: greeted))
                events.append((greeted + random.below(30_000), found))
            }
            clock = end + random.below(60_000)
        }
        var watch = CloneDetector()
        for event in events.sorted(by: { $0.at < $1.at }) {
            #expect(
                watch.loggedIn(van, event.arrival, from: "a", live: [event.arrival.boot]) == .admitted, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>) func twoComputersAreFoundAtTheFirstReturn(seed: UInt64) {
        var random = SplitMix(state: seed &* 104_729)
        var watch = CloneDetector(starts: 32)
        var (boots, next): ([UInt8], UInt8) = ([1, 2], 3)
        // What each computer has shown since its start, as the order of all logins.
        var logins: [UInt8] = []
        var second: Int64 = 0
        for step in 0..<24 {
            second += 1 + random.below(100)
            let box = Int(random.below(2))
            if random.below(6) == 0 {
                boots[box] = next
                next += 1
            }
            let boot = boots[box]
            let others = Set(logins.drop { $0 != boot }.filter { $0 != boot })
            // It comes back to a start behind which another one was seen.
            let isProof = logins.contains(boot) && !others.isEmpty
            logins.append(boot)
            let isRefused = refuses(&watch, boot, second)
            if isProof { #expect(isRefused, "seed \(seed), login \(step)") }
            if isRefused { return }
        }
        Issue.record("seed \(seed): two computers went on through 24 logins")
    }

    // MARK: Who is let in again

    @Test func bothStayOutWhileBothAsk() {
        var watch = CloneDetector()
        var second: Int64 = 0
        for (boot, isRefused) in [(1, false), (2, false), (1, true), (2, true)] as [(UInt8, Bool)] {
            second += 60
            #expect(refuses(&watch, boot, second) == isRefused)
        }
        for _ in 0..<50 {
            second += 600
            #expect(refuses(&watch, 1, second))
            #expect(refuses(&watch, 2, second + 300))
        }
    }

    @Test func whoIsAloneForHalfAnHourIsLetIn() {
        var watch = CloneDetector()
        for (boot, second) in [(1, 0), (2, 10), (1, 20)] as [(UInt8, Int64)] { _ = refuses(&watch, boot, second) }
        // The second one asks last at 600 s, 40 ms after it connected.
        #expect(refuses(&watch, 2, 600))
        #expect(refuses(&watch, 1, 1200))
        #expect(refuses(&watch, 1, 2399))
        #expect(!refuses(&watch, 1, 2400))
        // It has been on the road for hours when the other one is switched on again.
        #expect(refuses(&watch, 2, 20_000, live: [1]))
        #expect(refuses(&watch, 1, 20_001))
        // And when the first one was switched off long ago, the other one comes in at once.
        #expect(!refuses(&watch, 2, 40_000))
    }

    @Test func aDeviceThatWasPutInOrderBeginsAnew() {
        var watch = CloneDetector()
        for (boot, second) in [(1, 0), (2, 10), (1, 20)] as [(UInt8, Int64)] { _ = refuses(&watch, boot, second) }
        #expect(watch.refuses(van, arrival(2, 25)))
        watch.forget(van)
        #expect(!watch.hasRefused(van) && !watch.refuses(van, arrival(2, 25)))
        #expect(!refuses(&watch, 1, 30))
        #expect(!refuses(&watch, 1, 40))
        // The copy is still there.
        #expect(!refuses(&watch, 2, 50))
        #expect(refuses(&watch, 1, 60))
    }

    @Test func aNoticeIsNewsAgainAfterAQuietTime() {
        var watch = CloneDetector()
        for (boot, second) in [(1, 0), (2, 10)] as [(UInt8, Int64)] { _ = refuses(&watch, boot, second) }
        func isNew(_ boot: UInt8, _ second: Int64) -> Bool? {
            guard case .cloned(_, let isNew) = watch.loggedIn(van, arrival(boot, second), from: "a", live: []) else {
                return nil
            }
            return isNew
        }
        #expect(isNew(1, 20) == true)
        #expect(isNew(2, 620) == false)
        #expect(isNew(1, 1220) == false)
        #expect(isNew(1, 9000) == nil)
        #expect(isNew(2, 9010) == true)
    }

    // MARK: Memory

    @Test func memoryIsBounded() {
        var watch = CloneDetector(devices: 20, starts: 3)
        for number in 0..<200 {
            let id = DeviceID.sample(UInt8(number))
            #expect(watch.loggedIn(id, arrival(1, Int64(number)), from: "a", live: []) == .admitted)
            #expect(watch.count <= 20)
        }
        // Who came last is remembered.
        _ = watch.loggedIn(.sample(199), arrival(2, 300), from: "b", live: [])
        #expect(watch.loggedIn(.sample(199), arrival(1, 310), from: "a", live: []) != .admitted)
        // A start is forgotten when three later ones were seen.
        for boot: UInt8 in 1...4 { #expect(!refuses(&watch, boot, 400 + Int64(boot))) }
        #expect(!refuses(&watch, 1, 500))
        #expect(refuses(&watch, 4, 510))
    }
}

extension SplitMix {
    fileprivate mutating func below(_ limit: Int64) -> Int64 {
        limit < 1 ? 0 : Int64.random(in: 0..<limit, using: &self)
    }
}
