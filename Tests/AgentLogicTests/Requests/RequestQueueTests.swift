import Testing
import TrackModel
import TrackTestKit

@testable import AgentLogic

@Suite struct RequestQueueTests {
    private typealias Action = RequestQueue.Action

    private func id(_ number: UInt64) -> ServerRequestID { ServerRequestID(rawValue: number) }

    private func online(_ limits: RequestQueue.Limits = RequestQueue.Limits()) -> RequestQueue {
        var queue = RequestQueue(limits: limits)
        #expect(queue.linkUp(now: 0).isEmpty)
        return queue
    }

    @Test func offlineItFailsAtOnce() {
        var queue = RequestQueue()
        #expect(queue.add(.call, bytes: 10, now: 0).actions == [.fail(id(1), .offline)])
        #expect(queue.add(.points, bytes: 10, now: 0).actions == [.fail(id(2), .offline)])
        #expect(queue.count == 0)
    }

    @Test func itIsSentAndAnsweredOnce() {
        var queue = online()
        #expect(queue.add(.call, bytes: 10, now: 100).actions == [.send(id(1)), .setTimer(milliseconds: 30_000)])
        #expect(queue.answered(id(1), .points, now: 200) == nil)
        #expect(queue.answered(id(1), .call, now: 200) == [.cancelTimer])
        #expect(queue.answered(id(1), .call, now: 200) == nil)
        #expect(queue.answered(id(7), .call, now: 200) == nil)
    }

    @Test func fewAreSentAheadAndNoKindHoldsUpTheOther() {
        var queue = online()
        for number in 1...4 as ClosedRange<UInt64> {
            #expect(queue.add(.call, bytes: 1, now: 0).actions.first == .send(id(number)))
        }
        #expect(queue.add(.call, bytes: 1, now: 0).actions.isEmpty)
        #expect(queue.add(.points, bytes: 1, now: 0).actions == [.send(id(6))])
        #expect(queue.add(.points, bytes: 1, now: 0).actions.isEmpty)
        #expect(queue.answered(id(2), .call, now: 5) == [.send(id(5))])
        #expect(queue.answered(id(6), .points, now: 5) == [.send(id(7))])
        #expect(queue.count == 5)
    }

    @Test func whatWaitsIsBoundedInNumberAndBytes() {
        var limits = RequestQueue.Limits()
        limits.waiting = 2
        limits.bytes = 100
        var queue = online(limits)
        #expect(queue.add(.points, bytes: 1000, now: 0).actions.first == .send(id(1)))
        #expect(queue.add(.points, bytes: 1, now: 0).actions == [.fail(id(2), .full)])
        _ = queue.answered(id(1), .points, now: 0)
        for _ in 0..<3 { _ = queue.add(.points, bytes: 10, now: 0) }
        #expect(queue.add(.points, bytes: 10, now: 0).actions == [.fail(id(6), .full)])
        #expect(queue.count == 3)
    }

    @Test func aLostLinkEndsEveryRequestAndSaysWhichWereSent() {
        var queue = online()
        _ = queue.add(.points, bytes: 1, now: 0)
        _ = queue.add(.points, bytes: 1, now: 0)
        _ = queue.add(.call, bytes: 1, now: 0)
        #expect(
            queue.linkDown(now: 9) == [
                .fail(id(1), .cut), .fail(id(3), .cut), .fail(id(2), .offline), .cancelTimer,
            ])
        #expect(queue.linkDown(now: 9).isEmpty)
        #expect(queue.add(.call, bytes: 1, now: 9).actions == [.fail(id(4), .offline)])
    }

    @Test func aClosingLinkStillBringsAnswers() {
        var queue = online()
        _ = queue.add(.points, bytes: 1, now: 0)
        _ = queue.add(.points, bytes: 1, now: 0)
        #expect(queue.linkCloses(now: 1) == [.fail(id(2), .offline)])
        #expect(queue.answered(id(1), .points, now: 2) == [.cancelTimer])
    }

    @Test func deadlinesEndWhatIsSentAndWhatWaits() {
        var limits = RequestQueue.Limits()
        limits.turn = 500
        limits.answer = 1000
        var queue = online(limits)
        #expect(queue.add(.points, bytes: 1, now: 0).actions == [.send(id(1)), .setTimer(milliseconds: 1000)])
        #expect(queue.add(.points, bytes: 1, now: 0).actions == [.setTimer(milliseconds: 500)])
        #expect(queue.timerFired(now: 500) == [.fail(id(2), .notSent), .setTimer(milliseconds: 500)])
        _ = queue.add(.points, bytes: 1, now: 600)
        #expect(
            queue.timerFired(now: 1000)
                == [.fail(id(1), .overdue), .probeLink, .send(id(3)), .setTimer(milliseconds: 1000)])
        // Too late: nobody waits for it any more.
        #expect(queue.answered(id(1), .points, now: 1100) == nil)
        // Early by a little: set again.
        #expect(queue.timerFired(now: 1900) == [.setTimer(milliseconds: 100)])
    }

    @Test func whateverHappensEveryRequestEndsOnce() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        var queue = RequestQueue()
        var open: [ServerRequestID: RequestQueue.Kind] = [:]
        var sent: Set<ServerRequestID> = []
        var now: MonotonicTime = 0
        func perform(_ actions: [Action]) {
            for action in actions {
                switch action {
                case .send(let id): #expect(open[id] != nil && sent.insert(id).inserted, "seed \(seed)")
                case .fail(let id, let failure):
                    #expect(open.removeValue(forKey: id) != nil, "seed \(seed)")
                    let wasSent = sent.remove(id) != nil
                    #expect(wasSent == [.cut, .overdue].contains(failure), "seed \(seed)")
                case .setTimer, .cancelTimer, .probeLink: break
                }
            }
        }
        for _ in 0..<5000 {
            now += Int64.random(in: 0...2000, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: perform(queue.linkDown(now: now))
            case 1: perform(queue.linkCloses(now: now))
            case 2, 3: perform(queue.linkUp(now: now))
            case 4: perform(queue.timerFired(now: now))
            case 5, 6:
                // In an order that the seed repeats.
                guard let number = sent.map(\.rawValue).sorted().randomElement(using: &generator) else { continue }
                let id = id(number)
                guard let kind = open[id] else { continue }
                open[id] = nil
                sent.remove(id)
                perform(queue.answered(id, kind, now: now) ?? [])
            default:
                let kind = Bool.random(using: &generator) ? RequestQueue.Kind.call : .points
                let added = queue.add(kind, bytes: Int.random(in: 0...200_000, using: &generator), now: now)
                open[added.id] = kind
                perform(added.actions)
            }
            #expect(open.count == queue.count, "seed \(seed)")
            let kinds = sent.compactMap { open[$0] }
            #expect(kinds.count { $0 == .points } <= 1 && kinds.count { $0 == .call } <= 4, "seed \(seed)")
        }
    }
}
