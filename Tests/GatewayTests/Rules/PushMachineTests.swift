import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import Gateway

@Suite struct PushMachineTests {
    private func sent(_ actions: [PushMachine.Action]) -> [Int64] {
        actions.compactMap { if case .send(let push) = $0 { push.message } else { nil } }
    }

    private func settled(_ actions: [PushMachine.Action], _ outcome: PushSettlement.Outcome) -> [Int64] {
        actions.compactMap { action in
            if case .settle(let push, outcome) = action { push.message } else { nil }
        }
    }

    private func load(_ actions: [PushMachine.Action]) -> PushMachine.Action? {
        actions.first { if case .load = $0 { true } else { false } }
    }

    @Test func aPushIsSentAtOnceThenEachIntervalAndGivenUpAtTheEnd() {
        var machine = PushMachine()
        #expect(machine.mayWait(now: 1000) == [.load(after: nil, limit: 16)])
        #expect(
            machine.loaded([1], now: 1100) == [.send(.sample(1)), .setTimer(milliseconds: 15_000)])
        var times: [Int64] = []
        var now: MonotonicTime = 1100
        while machine.underWay > 0 {
            now += 15_000
            let actions = machine.timerFired(now: now)
            if sent(actions) == [1] { times.append(now - 1100) }
            if settled(actions, .givenUp) == [1] {
                #expect(now - 1100 == 600_000)
                #expect(!actions.contains { if case .setTimer = $0 { true } else { false } })
            }
        }
        #expect(times == Array(stride(from: 15_000, to: 600_000, by: 15_000)))
    }

    @Test func anAcknowledgementEndsItOnceAndMeansNothingForWhatWasNotSent() {
        var machine = PushMachine()
        _ = machine.mayWait(now: 0)
        _ = machine.loaded([1, 2], now: 0)
        #expect(machine.acknowledged([99, 0, .max], now: 1) == [])
        #expect(machine.acknowledged([1000, 1000], now: 2) == [.settle(.sample(1), .acknowledged)])
        #expect(machine.acknowledged([1000], now: 3) == [])
        #expect(machine.acknowledged([2000], now: 4) == [.settle(.sample(2), .acknowledged), .cancelTimer])
        #expect(machine.timerFired(now: 15_000) == [])
    }

    @Test func theWindowBoundsWhatIsUnderWayAndGoesOnBehindIt() {
        var machine = PushMachine(limits: .init(interval: 10, effort: 100, window: 3))
        #expect(load(machine.mayWait(now: 0)) == .load(after: nil, limit: 3))
        #expect(sent(machine.loaded([1, 2, 3], now: 0)) == [1, 2, 3])
        #expect(machine.mayWait(now: 1) == [])
        #expect(load(machine.acknowledged([2000], now: 2)) == .load(after: StoreCursor(3 as Int64), limit: 1))
        #expect(sent(machine.loaded([4], now: 3)) == [4])
        // Given up, they make room too.
        #expect(load(machine.timerFired(now: 100)) == .load(after: StoreCursor(4 as Int64), limit: 2))
        #expect(machine.underWay == 1)
    }

    @Test func whatIsQueuedWhileTheStoreIsAskedIsAskedForAgain() {
        var machine = PushMachine()
        _ = machine.mayWait(now: 0)
        #expect(machine.mayWait(now: 1) == [])
        #expect(load(machine.loaded([], now: 2)) == .load(after: StoreCursor(0 as Int64), limit: 16))
        #expect(machine.loaded([], now: 3) == [])
        // Nobody asked: an answer that comes too late is none.
        #expect(machine.loaded([1], now: 4) == [])
    }

    @Test func aStoreThatFailsIsAskedAgainAfterAnInterval() {
        var machine = PushMachine()
        _ = machine.mayWait(now: 0)
        #expect(machine.loadFailed(now: 5) == [.setTimer(milliseconds: 15_000)])
        #expect(load(machine.mayWait(now: 6)) == nil)
        #expect(load(machine.timerFired(now: 15_005)) == .load(after: nil, limit: 16))
        #expect(sent(machine.loaded([1], now: 15_006)) == [1])
    }

    @Test func anotherSessionsAcknowledgementIsNotToldTwice() {
        var machine = PushMachine()
        _ = machine.mayWait(now: 0)
        _ = machine.loaded([1], now: 0)
        #expect(machine.settledElsewhere([1000], now: 1) == [.cancelTimer])
        #expect(machine.settledElsewhere([1000], now: 1) == [])
        #expect(machine.acknowledged([1000], now: 2) == [])
    }

    @Test func whatTheStoreTellsTwiceIsSentOnce() {
        var machine = PushMachine(limits: .init(window: 4, remembered: 2))
        _ = machine.mayWait(now: 0)
        #expect(sent(machine.loaded([1, 2, 3, 3], now: 0)) == [1, 2, 3])
        _ = machine.acknowledged([1000], now: 1)
        // Those under way, and those that ended last.
        _ = machine.mayWait(now: 1)
        #expect(sent(machine.loaded([1, 2, 3, 4], now: 2)) == [4])
        _ = machine.acknowledged([2000], now: 3)
        _ = machine.acknowledged([3000], now: 4)
        // What ended long before is not recognised: the agent recognises it.
        #expect(sent(machine.loaded([1, 2, 3], now: 5)) == [1])
    }

    /// Whatever happens in whatever order: never more than the window under way, nothing sent after its end, and each
    /// push ends once.
    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func anyOrderOfEvents(seed: UInt64) {
        var dice = SplitMix(state: seed)
        var machine = PushMachine(limits: .init(interval: 10, effort: 60, window: 4))
        var now: MonotonicTime = 0
        var stored: [Int64] = []
        var asked: (after: Int64, limit: Int)?
        /// A store that tells again of some that it has told.
        func answer(_ question: (after: Int64, limit: Int)) -> [Int64] {
            let overlap = min(Int64.random(in: 0...3, using: &dice), question.after, Int64(question.limit) - 1)
            return Array(stored.filter { $0 > question.after - overlap }.prefix(question.limit))
        }
        var ended: [Int64: Int] = [:]
        var known: Set<Int64> = []
        func told(_ found: [Int64], _ before: Int64) -> [PushMachine.Action] {
            let through = StoreCursor(max(before, found.last ?? before))
            return machine.loaded(found.map(PendingPush.sample), through: through, now: now)
        }
        func note(_ actions: [PushMachine.Action]) {
            for action in actions {
                switch action {
                case .load(let after, let limit): asked = ((try? after?.content(as: Int64.self)) ?? 0, limit)
                case .send(let push):
                    #expect(ended[push.message] == nil, "seed \(seed): sent after its end")
                    known.insert(push.message)
                case .settle(let push, _): ended[push.message, default: 0] += 1
                case .setTimer, .cancelTimer: break
                }
            }
        }
        for _ in 0..<400 {
            now += Int64.random(in: 0...8, using: &dice)
            switch Int.random(in: 0..<6, using: &dice) {
            case 0:
                stored.append(Int64(stored.count) + 1)
                note(machine.mayWait(now: now))
            case 1:
                guard let question = asked else { continue }
                asked = nil
                let found = answer(question)
                note(dice.next() % 5 == 0 ? machine.loadFailed(now: now) : told(found, question.after))
            case 2: note(machine.acknowledged([UInt64.random(in: 0...20, using: &dice) * 1000], now: now))
            case 3: note(machine.settledElsewhere([UInt64.random(in: 0...20, using: &dice) * 1000], now: now))
            default: note(machine.timerFired(now: now))
            }
            #expect(machine.underWay <= 4, "seed \(seed)")
        }
        // When the store answers and the agent acknowledges, everything arrives.
        for _ in 0..<stored.count + 100 {
            now += 20
            if let question = asked {
                asked = nil
                note(told(answer(question), question.after))
            }
            note(machine.acknowledged(stored.map { UInt64($0) * 1000 }, now: now))
            note(machine.timerFired(now: now))
        }
        #expect(known == Set(stored), "seed \(seed)")
        #expect(ended.values.allSatisfy { $0 == 1 }, "seed \(seed)")
    }
}

extension PendingPush {
    fileprivate static func sample(_ message: Int64) -> PendingPush {
        PendingPush(
            id: UInt64(message) * 1000, message: message, type: 3, body: "{}", created: Timestamp(milliseconds: message)
        )
    }
}

extension PushMachine {
    /// A store's answer whose cursor is the last message.
    fileprivate mutating func loaded(_ messages: [Int64], now: MonotonicTime) -> [Action] {
        loaded(messages.map(PendingPush.sample), through: StoreCursor(messages.last ?? 0), now: now)
    }
}
