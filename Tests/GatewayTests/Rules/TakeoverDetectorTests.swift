import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Gateway

/// Copies of a disk that share a stream, and honest vehicles that seem to.
struct TakeoverDetectorTests {
    private let van = DeviceID.sample(1)

    private func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: 1_800_000_000_000 + seconds * 1000) }

    @Test func threeAnsweredTakeoversInARowAreCopies() {
        var watch = TakeoverDetector()
        // Copies of an agent come back after a minute.
        #expect(watch.ended(van, isAnswered: true, at: at(0)) == false)
        #expect(watch.ended(van, isAnswered: true, at: at(70)) == false)
        #expect(watch.ended(van, isAnswered: true, at: at(140)) == true)
        #expect(watch.ended(van, isAnswered: true, at: at(210)) == true, "and still are")
        #expect(watch.ended(.sample(2), isAnswered: true, at: at(210)) == false, "another device")
        watch.forget(van)
        #expect(watch.ended(van, isAnswered: true, at: at(220)) == false)
    }

    @Test func aDeadConnectionBetweenThemBeginsAnew() {
        var watch = TakeoverDetector()
        for second in 0..<30 as Range<Int64> {
            #expect(watch.ended(van, isAnswered: second % 3 != 0, at: at(second)) == false)
        }
    }

    @Test func answersOfAnotherHourDoNotCount() {
        var watch = TakeoverDetector()
        for hour in 0..<10 as Range<Int64> { #expect(watch.ended(van, isAnswered: true, at: at(hour * 1801)) == false) }
        // A date that jumps back counts nothing twice.
        #expect(watch.ended(van, isAnswered: true, at: at(0)) == false)
    }

    @Test func programsThatAnswerNothingShowThemselvesByTheirHaste() {
        var watch = TakeoverDetector()
        func isTold(_ milliseconds: Int64, isElsewhere: Bool = true) -> Bool {
            let now = Timestamp(milliseconds: 1_800_000_000_000 + milliseconds)
            return watch.taken(van, isElsewhere: isElsewhere, at: now)
        }
        for number in 0..<5 as Range<Int64> { #expect(!isTold(number * 800)) }
        #expect(isTold(4000))
        watch.forget(van)
        for number in 0..<5 as Range<Int64> { #expect(!isTold(number)) }
        #expect(!isTold(6, isElsewhere: false), "one address: a vehicle that has no luck")
        #expect(!isTold(7))
        // Networks that change every second: an agent makes no more attempts.
        for second in 10..<60 as Range<Int64> { #expect(!isTold(second * 1000)) }
    }

    /// An honest vehicle: links that break for a while, two networks, other addresses of a router. Its goodbye is repeated by its
    /// kernel with growing pauses. It reaches the server after the new login only when the repetition falls into the two seconds for
    /// which the agent waits for the server's goodbye, or into the way of the server's answer to a connection that is gone.
    @Test(arguments: 0..<40 as Range<UInt64>) func anHonestVehicleIsNoCopy(seed: UInt64) {
        var random = SplitMix(state: seed &+ 1)
        var watch = TakeoverDetector()
        func below(_ limit: Int64) -> Int64 { Int64.random(in: 0..<max(limit, 1), using: &random) }
        var (now, failures) = (0 as Int64, 0)
        for _ in 0..<300 {
            let lasted = below(4) == 0 ? below(20_000) : 60_000 + below(600_000)
            now += lasted
            failures = lasted < 60_000 ? min(failures + 1, 8) : 0
            let way = 20 + below(600)
            let (gap, isOtherNetwork) = (below(3) == 0 ? 0 : below(60_000), below(3) == 0)
            // The agent ends the connection, waits, and is let in after three ways there and back, when the gap is over.
            let wait = isOtherNetwork ? 1000 : below(1000 << Int64(failures))
            let login = max(wait, gap) + 3 * way
            var (sent, pause) = (0 as Int64, 200 + 2 * way)
            while sent < gap {
                sent += pause
                pause = min(pause * 2, 120_000)
            }
            let goodbye = isOtherNetwork && gap > 0 ? .max : sent + way / 2
            now += login
            let time = Timestamp(milliseconds: 1_800_000_000_000 + now)
            // The server knew the end before.
            guard goodbye >= login else { continue }
            #expect(watch.taken(van, isElsewhere: isOtherNetwork, at: time) == false, "at \(now)")
            let isAnswered = goodbye < login + way || (goodbye < .max && sent < 2000)
            #expect(watch.ended(van, isAnswered: isAnswered, at: time) == false, "at \(now)")
        }
    }

    @Test func memoryIsBounded() {
        var watch = TakeoverDetector(devices: 20)
        for number in 0..<200 as Range<Int64> {
            _ = watch.ended(.sample(UInt8(number)), isAnswered: true, at: at(number))
            #expect(watch.count <= 20)
        }
    }
}
