import Testing
import TrackModel
import TrackTestKit

@testable import AgentLogic

@Suite struct AttributeCollectorTests {
    private let first = AttributeCollector.ProviderID(rawValue: 1)
    private let second = AttributeCollector.ProviderID(rawValue: 2)

    private func point(_ second: Int64) throws -> TrackPoint {
        TrackPoint(
            Fix(
                time: Timestamp(seconds: second),
                coordinate: try #require(Coordinate(latitudeE7: 1, longitudeE7: 2))))
    }

    private func released(
        _ point: TrackPoint, _ provided: [[String: AttributeValue]] = []
    ) -> AttributeCollector.Action {
        .release(point, entity: "van", provided: provided)
    }

    @Test func withoutProvidersAPointPassesAtOnceAndNoTimerIsSet() throws {
        var collector = AttributeCollector()
        let point = try point(5)
        #expect(collector.gathered(point, entity: "van") == [released(point)])
        #expect(collector.timerFired() == [])
        #expect(collector.flush() == [])
    }

    @Test func aPointGoesWhenAllHaveAnsweredInTheOrderOfTheirRegistration() throws {
        var collector = AttributeCollector()
        let point = try point(5)
        #expect(collector.called(first, answer: nil, now: 0) == (.waiting, []))
        #expect(collector.called(second, answer: nil, now: 0) == (.waiting, []))
        #expect(
            collector.gathered(point, entity: "van") == [
                .setTimer(milliseconds: 200), .ask(first, request: 1, time: Timestamp(seconds: 5)),
                .ask(second, request: 1, time: Timestamp(seconds: 5)),
            ])
        #expect(collector.called(second, answer: (1, ["b": .integer(2)]), now: 10) == (.taken, []))
        #expect(
            collector.called(first, answer: (1, ["a": .integer(1)]), now: 20)
                == (.taken, [.cancelTimer, released(point, [["a": .integer(1)], ["b": .integer(2)]])]))
        #expect(collector.infos.map(\.answered) == [1, 1])
        #expect(collector.infos.first?.values == ["a": .integer(1)])
        #expect(collector.infos.first?.answeredAt == 20)
    }

    @Test func aLateAnswerIsCountedAndTheProviderIsAskedAgain() throws {
        var collector = AttributeCollector()
        let (one, two) = (try point(5), try point(10))
        _ = collector.called(first, answer: nil, now: 0)
        _ = collector.gathered(one, entity: "van")
        #expect(collector.timerFired() == [released(one)])
        // Still busy: the next point does not wait for it.
        #expect(collector.gathered(two, entity: "van") == [released(two)])
        #expect(collector.called(first, answer: (1, ["a": .integer(1)]), now: 700) == (.late, []))
        #expect(collector.infos.map(\.late) == [1])
        let three = try point(15)
        #expect(
            collector.gathered(three, entity: "van") == [
                .setTimer(milliseconds: 200), .ask(first, request: 2, time: Timestamp(seconds: 15)),
            ])
    }

    @Test func theNextPointLetsTheOneBeforeGoFirst() throws {
        var collector = AttributeCollector()
        let (one, two) = (try point(5), try point(6))
        _ = collector.called(first, answer: nil, now: 0)
        _ = collector.called(second, answer: nil, now: 0)
        _ = collector.gathered(one, entity: "van")
        _ = collector.called(second, answer: (1, ["b": .integer(2)]), now: 1)
        #expect(
            collector.gathered(two, entity: "van") == [
                .cancelTimer, released(one, [["b": .integer(2)]]), .setTimer(milliseconds: 200),
                .ask(second, request: 2, time: Timestamp(seconds: 6)),
            ])
        #expect(collector.called(first, answer: (1, [:]), now: 2) == (.late, []))
        #expect(collector.flush() == [.cancelTimer, released(two)])
        #expect(collector.flush() == [])
    }

    @Test func aProviderThatGoesIsNotWaitedForAndWhatItGaveCounts() throws {
        var collector = AttributeCollector()
        let point = try point(5)
        _ = collector.called(first, answer: nil, now: 0)
        _ = collector.called(second, answer: nil, now: 0)
        _ = collector.gathered(point, entity: "van")
        _ = collector.called(first, answer: (1, ["a": .integer(1)]), now: 1)
        #expect(collector.gone(first) == [])
        #expect(collector.gone(second) == [.cancelTimer, released(point, [["a": .integer(1)]])])
        #expect(collector.providerCount == 0)
        #expect(collector.gone(second) == [])
    }

    @Test func aBadAnswerEndsTheWaiting() throws {
        var collector = AttributeCollector()
        let (one, two) = (try point(5), try point(6))
        _ = collector.called(first, answer: nil, now: 0)
        _ = collector.gathered(one, entity: "van")
        #expect(
            collector.called(first, answer: (7, ["a": .integer(1)]), now: 1)
                == (.unknownRequest(last: 1), [.cancelTimer, released(one)]))
        // It is asked again once it calls again.
        #expect(collector.gathered(two, entity: "van") == [released(two)])
        #expect(collector.called(first, answer: (1, [:]), now: 2) == (.unknownRequest(last: nil), []))
        #expect(collector.called(first, answer: nil, now: 2) == (.waiting, []))
        _ = collector.gathered(one, entity: "van")
        #expect(collector.failed(first) == [.cancelTimer, released(one)])
    }

    @Test func nobodyBecomesAProviderByAnAnswer() {
        var collector = AttributeCollector()
        #expect(collector.called(first, answer: (1, [:]), now: 0) == (.unknownRequest(last: nil), []))
        #expect(collector.providerCount == 0)
    }

    @Test func aCallWithoutAnAnswerIsNoAnswer() throws {
        var collector = AttributeCollector()
        let point = try point(5)
        _ = collector.called(first, answer: nil, now: 0)
        _ = collector.gathered(point, entity: "van")
        #expect(collector.called(first, answer: nil, now: 1) == (.waiting, [.cancelTimer, released(point)]))
    }

    @Test func thereAreNotMoreProvidersThanTheLimit() {
        var collector = AttributeCollector()
        for number in 0..<UInt64(AttributeCollector.maximumProviders) {
            #expect(
                collector.called(.init(rawValue: number), answer: nil, now: 0) == (.waiting, []))
        }
        #expect(collector.called(.init(rawValue: 99), answer: nil, now: 0) == (.full, []))
        _ = collector.gone(.init(rawValue: 3))
        #expect(collector.called(.init(rawValue: 99), answer: nil, now: 0) == (.waiting, []))
    }

    /// Whatever happens in whatever order, every point comes out once, in order, and at most one waits.
    @Test func everyPointComesOutOnceAndInOrder() throws {
        let seed = TestGenerator.printedSeed()
        var random = TestGenerator(seed: seed)
        for _ in 0..<200 {
            var collector = AttributeCollector()
            var made: [Int64] = []
            var out: [Int64] = []
            var isTimerSet = false
            func take(_ actions: [AttributeCollector.Action]) {
                for action in actions {
                    switch action {
                    case .release(let point, _, _): out.append(point.fix.time.seconds)
                    case .setTimer: isTimerSet = true
                    case .cancelTimer: isTimerSet = false
                    case .ask: break
                    }
                }
            }
            for step in 0..<60 {
                let id = AttributeCollector.ProviderID(rawValue: UInt64.random(in: 0...3, using: &random))
                switch Int.random(in: 0...6, using: &random) {
                case 0, 1:
                    made.append(Int64(step))
                    take(collector.gathered(try point(Int64(step)), entity: "van"))
                case 2: take(collector.called(id, answer: nil, now: 0).1)
                case 3, 4:
                    let request = Int64.random(in: 0...10, using: &random)
                    take(collector.called(id, answer: (request, ["a": .integer(1)]), now: 0).1)
                case 5: take(collector.gone(id))
                default:
                    if isTimerSet {
                        isTimerSet = false
                        take(collector.timerFired())
                    }
                }
                #expect(made.count - out.count <= 1, "seed \(seed)")
                #expect(isTimerSet == (made.count > out.count), "seed \(seed)")
            }
            take(collector.flush())
            #expect(out == made, "seed \(seed)")
        }
    }
}

/// Tuples have no `==` of their own that `#expect` could show.
private func == (
    left: (AttributeCollector.Reception, [AttributeCollector.Action]),
    right: (AttributeCollector.Reception, [AttributeCollector.Action])
) -> Bool { left.0 == right.0 && left.1 == right.1 }
