import Glibc
import Testing
import TrackTestKit

@testable import DiskRing

/// Random calls on a disk that works, against a plain array. To repeat one history, set `SAKER_TEST_SEED`.
@Suite struct ArrayModelTests {
    fileprivate struct Model {
        var waiting: [(number: Int, entity: String, sequence: UInt64)] = []
        var cleared = 0
        var acknowledged = 0
        var dropped = 0
        var appended = 0
    }

    private static var seeds: [UInt64] {
        if let text = getenv("SAKER_TEST_SEED"), let seed = UInt64(String(cString: text)) { return [seed] }
        let count = getenv("SAKER_TEST_SEEDS").flatMap { Int(String(cString: $0)) } ?? 100
        return (0..<count).map { UInt64($0) }
    }

    @Test func aCacheIsAnArrayThatSurvives() throws {
        for seed in Self.seeds {
            if let problem = try Self.run(seed: seed) {
                Issue.record("seed \(seed): \(problem)")
            }
        }
    }

    /// Nil when the history went well.
    private static func run(seed: UInt64) throws -> String? {
        var dice = DiskDice(seed: seed)
        let ring = Ring(syncInterval: dice.one(in: 2) ? 0 : .max, seed: seed)
        var cache = try ring.open()
        var model = Model()
        var past = DiskRingCounters()
        var limit: Int?
        for step in 0..<60 {
            switch Int.random(in: 0..<20, using: &dice) {
            case 0..<8:
                let entity = ["a", "b", "c"].randomElement(using: &dice) ?? "a"
                for _ in 0..<Int.random(in: 1...120, using: &dice) {
                    let number = model.appended
                    model.appended += 1
                    let sequence = cache.append(
                        entity: entity, time: Int64(number),
                        payload: payload(number, size: Int.random(in: 8...900, using: &dice)), now: 0)
                    model.waiting.append((number, entity, sequence ?? 0))
                }
            case 8..<13:
                let position = model.waiting.randomElement(using: &dice)?.sequence ?? 0
                let count = Int.random(in: 1...200, using: &dice)
                let batch = cache.read(after: position, maximumCount: count, maximumBytes: .max, now: 0)
                model.settle(cache, past)
                var expected = model.waiting.filter { $0.sequence > position }[...]
                if let first = expected.first {
                    let length = expected.enumerated().prefix {
                        $0.element.entity == first.entity && $0.element.sequence == first.sequence + UInt64($0.offset)
                    }
                    expected = expected.prefix(min(length.count, count))
                }
                let read = batch?.records.map { number(of: $0.payload) } ?? []
                if read != expected.map(\.number) { return "step \(step): read \(read)" }
                if let batch, batch.entity != expected.first?.entity { return "step \(step): \(batch.entity)" }
                if let batch, dice.one(in: 2) {
                    cache.acknowledge(through: batch.lastSequence, of: batch.stream, now: 0)
                    model.waiting.removeAll { $0.sequence <= batch.lastSequence }
                }
            case 13, 14:
                let entities: [String]? = dice.one(in: 2) ? nil : ["a", "c"]
                let from = Int64.random(in: 0...Int64(model.appended), using: &dice)
                let through = from + Int64.random(in: 0...300, using: &dice)
                let result = try cache.clear(entities: entities, from: from, through: through, now: 0)
                model.settle(cache, past)
                let before = model.waiting.count
                model.waiting.removeAll {
                    (from...through).contains(Int64($0.number)) && (entities?.contains($0.entity) ?? true)
                }
                if Int(result.records) != before - model.waiting.count { return "step \(step): cleared \(result)" }
            case 15:
                limit = dice.one(in: 2) ? nil : Int.random(in: 2...5, using: &dice) * DiskRingOptions.smallestSegment
                cache.setLimit(bytes: limit)
            default:
                let isGraceful = dice.one(in: 2)
                if isGraceful { cache.close(now: 0) } else { cache.sync(now: 0) }
                past.droppedByBound += cache.counters.droppedByBound
                let crashSeed: UInt64? = dice.one(in: 2) ? dice.next() : nil
                var next = ring
                next.options.limit = limit
                cache = try next.reopen(cache, crashSeed: crashSeed)
                // What the ledger forgot, a login tells.
                if let first = model.waiting.first { cache.confirm(serverStoredThrough: first.sequence - 1, now: 0) }
                if model.waiting.isEmpty { cache.confirm(serverStoredThrough: cache.nextSequence - 1, now: 0) }
                // Opening may have dropped what the ledger did not know to be acknowledged: counted more, lost less.
                let lost = model.waiting.count - Int(cache.count)
                if lost < 0 || lost > Int(cache.counters.droppedByBound) { return "step \(step): lost \(lost)" }
                model.waiting.removeFirst(lost)
                model.dropped = Int(cache.counters.droppedByBound + past.droppedByBound)
            }
            if let problem = model.compare(cache, past) { return "step \(step): \(problem)" }
        }
        return nil
    }
}

extension ArrayModelTests.Model {
    /// The bound takes the oldest, and says how many.
    fileprivate mutating func settle(_ cache: DiskRing, _ past: DiskRingCounters) {
        let dropped = Int(cache.counters.droppedByBound + past.droppedByBound)
        waiting.removeFirst(min(dropped - self.dropped, waiting.count))
        self.dropped = dropped
    }

    fileprivate mutating func compare(_ cache: DiskRing, _ past: DiskRingCounters) -> String? {
        settle(cache, past)
        let numbers = cache.numbers()
        settle(cache, past)
        if numbers != waiting.map(\.number) { return "holds \(numbers.count), expected \(waiting.count)" }
        if cache.count != UInt64(waiting.count) { return "counts \(cache.count), expected \(waiting.count)" }
        if cache.firstSequence != waiting.first?.sequence ?? cache.nextSequence {
            return "first \(cache.firstSequence)"
        }
        let info = cache.info()
        for entity in ["a", "b", "c"] {
            let mine = waiting.filter { $0.entity == entity }.map { Int64($0.number) }
            let told = info.first { $0.entity == entity }
            if mine.isEmpty != (told == nil) { return "info of \(entity)" }
            guard let told else { continue }
            if told.count != UInt64(mine.count) || told.firstTime != mine.min() || told.lastTime != mine.max() {
                return "info of \(entity): \(told)"
            }
        }
        if cache.counters.streamConflicts > 0 || cache.counters.corruptRecords > 0 { return "\(cache.counters)" }
        return nil
    }
}
