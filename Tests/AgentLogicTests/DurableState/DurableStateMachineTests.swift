import AgentLogic
import Testing
import TrackModel
import TrackTestKit

@Suite struct DurableStateMachineTests {
    private var machine = DurableStateMachine()
    private let first = RequestID(rawValue: 1)
    private let second = RequestID(rawValue: 2)
    private let begin: [DurableStateMachine.Action] = [
        .cancelTimer(.retry), .setTimer(.hang, milliseconds: 5000), .write,
    ]

    @Test mutating func aCallerIsAnsweredWhenTheChangeIsOnTheDisk() {
        #expect(machine.standing == .durable)
        #expect(machine.changed() == begin)
        #expect(machine.standing == .writing)
        #expect(machine.asked(first, now: 100) == [.setTimer(.timeout, milliseconds: 40)])
        #expect(machine.written() == [.cancelTimer(.hang), .cancelTimer(.timeout), .answer(first, .durable)])
        #expect(machine.standing == .durable)
        #expect(machine.timerFired(.timeout, now: 140) == [])
    }

    @Test mutating func nothingChangedIsDurableAtOnce() {
        #expect(machine.asked(first, now: 0) == [.answer(first, .durable)])
    }

    @Test mutating func changesDuringAWriteGoIntoTheNextOneTogether() {
        #expect(machine.changed() == begin)
        _ = machine.asked(first, now: 0)
        #expect(machine.changed() == [])
        #expect(machine.changed() == [])
        #expect(machine.asked(second, now: 10) == [])
        #expect(machine.written() == [.cancelTimer(.hang), .answer(first, .durable)] + begin)
        #expect(machine.written() == [.cancelTimer(.hang), .cancelTimer(.timeout), .answer(second, .durable)])
    }

    @Test mutating func aSlowDiskIsAnHonestAnswerWithinTheCallersTimeout() {
        _ = machine.changed()
        _ = machine.asked(first, now: 0)
        _ = machine.asked(second, now: 30)
        #expect(
            machine.timerFired(.timeout, now: 40)
                == [.answer(first, .pending), .setTimer(.timeout, milliseconds: 30)])
        #expect(machine.timerFired(.timeout, now: 70) == [.answer(second, .pending)])
        #expect(machine.standing == .writing)
        #expect(machine.written() == [.cancelTimer(.hang)])
    }

    @Test mutating func aFailureIsTheCallersAnswerAndIsTriedAgain() {
        _ = machine.changed()
        _ = machine.asked(first, now: 0)
        #expect(
            machine.failed(reason: "full")
                == [
                    .cancelTimer(.hang), .complain(reason: "full"), .cancelTimer(.timeout),
                    .answer(first, .failed(reason: "full")), .setTimer(.retry, milliseconds: 1000),
                ])
        #expect(machine.standing == .failing(reason: "full"))
        #expect(machine.asked(second, now: 5) == [.answer(second, .failed(reason: "full"))])
        #expect(machine.timerFired(.retry, now: 1000) == begin)
        // The same reason is said once, and the wait doubles up to a minute.
        #expect(machine.failed(reason: "full") == [.cancelTimer(.hang), .setTimer(.retry, milliseconds: 2000)])
        for _ in 0..<10 {
            _ = machine.timerFired(.retry, now: 0)
            _ = machine.failed(reason: "full")
        }
        _ = machine.timerFired(.retry, now: 0)
        #expect(machine.failed(reason: "full").last == .setTimer(.retry, milliseconds: 60_000))
        _ = machine.timerFired(.retry, now: 0)
        #expect(machine.written() == [.cancelTimer(.hang), .relieved])
        #expect(machine.standing == .durable)
    }

    @Test mutating func aChangeInTroubleIsTriedAtOnceAndItsCallerHearsOfItsOwnAttempt() {
        _ = machine.changed()
        _ = machine.failed(reason: "full")
        #expect(machine.changed() == begin)
        #expect(machine.asked(first, now: 0) == [.setTimer(.timeout, milliseconds: 40)])
        #expect(
            machine.written() == [.cancelTimer(.hang), .relieved, .cancelTimer(.timeout), .answer(first, .durable)])
    }

    @Test mutating func aChangeDuringAWriteThatFailsIsTriedAtOnce() {
        _ = machine.changed()
        _ = machine.changed()
        _ = machine.asked(first, now: 0)
        let actions = machine.failed(reason: "full")
        #expect(actions == [.cancelTimer(.hang), .complain(reason: "full")] + begin)
        #expect(machine.written().contains(.answer(first, .durable)))
    }

    @Test mutating func aDiskThatHangsIsToldAndItsEndToo() {
        _ = machine.changed()
        #expect(
            machine.timerFired(.hang, now: 5000) == [.complain(reason: "the disk has not answered for 5 s")])
        #expect(machine.standing == .failing(reason: "the disk has not answered for 5 s"))
        #expect(machine.written() == [.cancelTimer(.hang), .relieved])
        #expect(machine.timerFired(.hang, now: 9000) == [])
    }

    @Test mutating func aStateThatCouldNotBeReadIsATroubleUntilTheNextWrite() {
        machine = DurableStateMachine(trouble: "unreadable")
        #expect(machine.standing == .failing(reason: "unreadable"))
        #expect(machine.changed() == begin)
        #expect(machine.written() == [.cancelTimer(.hang), .relieved])
    }

    @Test mutating func whatNobodyAskedForIsIgnored() {
        #expect(machine.written() == [])
        #expect(machine.failed(reason: "x") == [])
        for timer in DurableStateMachine.Timer.allCases { #expect(machine.timerFired(timer, now: 0) == []) }
    }

    /// Whatever comes in whatever order: each caller is answered once, and told durable only when its change is written.
    @Test(arguments: 0..<200) mutating func everyCallerIsAnsweredOnceAndNeverFalsely(seed: UInt64) {
        var dice = SplitMix(state: seed)
        var (now, changes, writing, onDisk): (Int64, UInt64, UInt64?, UInt64) = (0, 0, nil, 0)
        var asked: [RequestID: UInt64] = [:]
        var answered: Set<RequestID> = []
        var nextID: UInt64 = 1
        func take(_ actions: [DurableStateMachine.Action]) {
            for action in actions {
                switch action {
                case .write:
                    #expect(writing == nil)
                    writing = changes
                case .answer(let id, let durability):
                    #expect(answered.insert(id).inserted)
                    if durability == .durable { #expect(asked[id, default: .max] <= onDisk) }
                case .setTimer, .cancelTimer, .complain, .relieved: break
                }
            }
        }
        for _ in 0..<300 {
            now += Int64(dice.next() % 30)
            let time = MonotonicTime(milliseconds: now)
            switch dice.next() % 6 {
            case 0:
                changes += 1
                take(machine.changed())
            case 1:
                let id = RequestID(rawValue: nextID)
                nextID += 1
                asked[id] = changes
                take(machine.asked(id, now: time))
            case 2:
                guard let done = writing else { continue }
                (writing, onDisk) = (nil, done)
                take(machine.written())
            case 3:
                guard writing != nil else { continue }
                writing = nil
                take(machine.failed(reason: "full"))
            case 4: take(machine.timerFired(.timeout, now: time))
            default: take(machine.timerFired(.retry, now: time))
            }
        }
        take(machine.timerFired(.timeout, now: MonotonicTime(milliseconds: now + 100)))
        #expect(answered.count == asked.count)
    }
}
