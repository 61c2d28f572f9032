import AgentLogic
import Testing
import TrackModel

@testable import GNSSFeed

/// A receiver that saves energy: a fix each 61 s, and nothing between.
@Suite struct SeldomReceiverTests {
    private let receiver = GPSDDevice(path: "/dev/ttyACM0", isActive: true)
    private let closed = GPSDDevice(path: "/dev/ttyACM0", isActive: false)
    private let fix = GNSSReport(mode: 3, device: "/dev/ttyACM0")

    /// A feed, its time in seconds, and whether it was told since the last look that the receiver is away.
    private struct Played {
        var machine: FeedMachine
        var now: Int64 = 1
        private var told: [FeedState] = []
        private var time: MonotonicTime { MonotonicTime(milliseconds: now * 1000) }

        init(_ receiver: GPSDDevice) throws {
            machine = FeedMachine(configuration: try FeedConfiguration())
            _ = machine.start()
            _ = machine.connected(at: time)
            hear(.version(release: "3.22"))
            hear(.devices([receiver]))
        }

        mutating func hear(_ message: GPSDMessage) { take(machine.received(message, roll: 0, at: time)) }

        private mutating func take(_ actions: [FeedMachine.Action]) {
            for case .deliver(.state(let state)) in actions { told.append(state) }
        }

        /// gpsd answers what it is asked.
        mutating func pass(seconds: Int64, _ receiver: GPSDDevice) {
            for _ in 0..<seconds {
                now += 1
                let actions = machine.timePassed(roll: 0, at: time)
                take(actions)
                for case .send(let question) in actions {
                    hear(question.hasPrefix("?DEVICES") ? .devices([receiver]) : .version(release: "3.22"))
                }
            }
        }

        /// The sentences since the last look.
        mutating func away() -> [String] {
            defer { told = [] }
            return told.compactMap { if case .noDevice(let reason) = $0 { reason } else { nil } }
        }
    }

    private func silent(_ seconds: Int) -> String {
        "the receiver has sent nothing for \(seconds) s: unplugged, switched off, or another speed of the port"
    }

    @Test func itIsNotAwayBetweenItsWords() throws {
        var feed = try Played(receiver)
        for round in 0..<20 {
            feed.hear(.position(fix))
            feed.pass(seconds: 61, receiver)
            // Nobody knows at first how often it speaks.
            #expect(feed.away() == (round == 0 ? [silent(30)] : []), "round \(round)")
        }
        // It is unplugged: three of its pauses after its last word, and not before.
        feed.pass(seconds: 183 - 61 - 1, receiver)
        #expect(feed.away() == [])
        feed.pass(seconds: 1, receiver)
        #expect(feed.away() == [silent(183)])
    }

    /// How long it was unplugged says nothing of how often it speaks, and one long pause is forgotten.
    @Test(arguments: [true, false]) func aLongAbsenceIsNoHabit(isTold: Bool) throws {
        var feed = try Played(receiver)
        for _ in 0..<40 {
            feed.hear(.position(fix))
            feed.pass(seconds: 1, receiver)
        }
        if isTold { feed.hear(.device(closed)) }
        feed.pass(seconds: 3600, isTold ? closed : receiver)
        if isTold { feed.hear(.device(receiver)) }
        for _ in 0..<(isTold ? 2 : 40) {
            feed.hear(.position(fix))
            feed.pass(seconds: 1, receiver)
        }
        _ = feed.away()
        feed.pass(seconds: 29, receiver)
        #expect(feed.away() == [silent(30)])
    }

    /// However seldom it spoke, a quarter of an hour without a word is told.
    @Test func aPauseIsBounded() throws {
        var feed = try Played(receiver)
        for _ in 0..<3 {
            feed.hear(.position(fix))
            feed.pass(seconds: 500, receiver)
        }
        _ = feed.away()
        feed.pass(seconds: 399, receiver)
        #expect(feed.away() == [])
        feed.pass(seconds: 1, receiver)
        #expect(feed.away() == [silent(900)])
    }
}
