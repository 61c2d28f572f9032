import AgentLogic
import Geodesy
import Geofencing
import Testing
import TrackModel

@testable import LocalFences

@Suite struct LocalFenceTableTests {
    private let now = Timestamp(milliseconds: 1000)
    private let since = Timestamp(milliseconds: 2000)

    private func feature(_ name: String, _ radius: Double = 100) throws -> FenceDefinition {
        var definition = circle(radius)
        definition.origin = try FenceOrigin(file: "yards.json", feature: name, attributes: "{}")
        return definition
    }

    @Test func allOrNoneAreMade() throws {
        var table = LocalFenceTable()
        #expect(try table.create([circle(), circle(50)], now: now, since: since) == [1, 2])
        do {
            _ = try table.create([circle(), circle(-1)], now: now, since: since)
            Issue.record("a radius below 0")
        } catch {
            #expect(error.reason == .definition(1, .shape(.radius)))
        }
        #expect(table.fences.count == 2 && table.nextFence == 3)
    }

    @Test func limitsAreKept() throws {
        var limits = LocalFenceTable.Limits()
        limits.fences = 3
        var table = LocalFenceTable(limits: limits)
        _ = try table.create([circle(), circle(), circle()], now: now, since: since)
        #expect(throws: FenceRefusal.self) { try table.create([circle()], now: now, since: since) }
        try table.delete([2])
        #expect(try table.create([circle()], now: now, since: since) == [4])
        limits = LocalFenceTable.Limits()
        limits.vertices = 10
        table = LocalFenceTable(limits: limits)
        let line = (0..<6).map { Degrees(latitude: 40, longitude: 116 + Double($0) / 1000) }
        var corridor = FenceDefinition(ShapeDraft(.corridor(line, offset: 50)))
        _ = try table.create([corridor], now: now, since: since)
        #expect(throws: FenceRefusal.self) { try table.create([corridor], now: now, since: since) }
        _ = try table.create([circle(), circle(), circle(), circle()], now: now, since: since)
        // Also when a fence grows, and room comes back when it shrinks.
        corridor.shape = ShapeDraft(.corridor(line + [Degrees(latitude: 41, longitude: 116)], offset: 50))
        #expect(throws: FenceRefusal.self) { try table.update(1, corridor, now: now, since: since) }
        #expect(try table.update(1, circle(), now: now, since: since) == .area)
        #expect(table.fences[1]?.fence.revision == 2)
        limits = LocalFenceTable.Limits()
        limits.bytes = 200
        table = LocalFenceTable(limits: limits)
        #expect(throws: FenceRefusal.self) { try table.create([circle(), circle(), circle()], now: now, since: since) }
    }

    @Test func aSecondImportUpdatesAddsAndRemoves() throws {
        var table = LocalFenceTable()
        _ = try table.create([circle()], now: now, since: since)
        func take(_ definitions: [FenceDefinition]) throws -> LocalFenceTable.Imported {
            try table.importing(definitions, file: "yards.json", layer: nil, now: now, since: since)
        }
        #expect(try take([try feature("a"), try feature("b"), try feature("c")]).created == [2, 3, 4])
        let second = try take([try feature("c"), try feature("a", 50), try feature("d")])
        #expect(second.created == [5] && second.updated == [2] && second.unchanged == [4] && second.deleted == [3])
        #expect(table.fences.numbers == [1, 2, 4, 5])
        #expect(throws: FenceRefusal.self) { try take([try feature("a", -1)]) }
        #expect(table.fences.numbers == [1, 2, 4, 5])
    }

    @Test func aFenceIsTheSameAfterTheDisk() throws {
        var table = LocalFenceTable()
        _ = try table.create([circle(), try feature("a")], now: now, since: since)
        _ = try table.update(1, circle(70), now: Timestamp(milliseconds: 5000), since: Timestamp(milliseconds: 6000))
        let again = try table.all.map { try LocalFence(number: $0.fence.id, encoded: $0.encoded) }
        #expect(again == Array(table.all))
        #expect(LocalFenceTable(KeptFences(again), nextFence: 1).nextFence == 3)
        #expect(LocalFenceTable(nextFence: 9).nextFence == 9)
        var fence = try #require(again.first)
        fence.join("van \u{E9}", since: Timestamp(milliseconds: 7000))
        fence = try LocalFence(number: 1, encoded: fence.encoded)
        #expect(try fence.plan(for: "van_07", [:]).from == since)
        #expect(try fence.plan(for: "van_07", [:]).revisedAt == Timestamp(milliseconds: 6000))
        #expect(try fence.plan(for: "van \u{E9}", [:]).from == Timestamp(milliseconds: 7000))
        let bytes = fence.encoded
        for length in 0..<bytes.count {
            #expect(throws: FenceStateCodingError.self) {
                try LocalFence(number: 1, encoded: Array(bytes.prefix(length)))
            }
        }
        #expect(throws: FenceStateCodingError.self) { try LocalFence(number: 1, encoded: [1, 2, 3]) }
    }

    /// A fence is kept as its bytes: what comes out is what went in.
    @Test func aKeptFenceIsTheFence() throws {
        var kept = KeptFences()
        var table = LocalFenceTable()
        _ = try table.create([circle(), try feature("a")], now: now, since: since)
        for fence in table.all { try kept.add(fence.fence.id, encoded: fence.encoded) }
        #expect(kept == table.fences)
        let bytes = kept.bytes
        #expect(bytes == table.all.reduce(0) { $0 + $1.encoded.count })
        var fence = try #require(kept[1])
        fence.join(ExactName("van"), since: now)
        kept[1] = fence
        #expect(kept[1] == fence && kept != table.fences && kept.count == 2)
        kept[2] = nil
        #expect(kept.numbers == [1] && kept.bytes == fence.encoded.count && kept.vertices == fence.vertexCount)
        #expect(kept[2] == nil && kept.watch(of: 2) == nil && kept.watch(of: 1) == fence.fence.definition.watch)
        #expect(throws: FenceStateCodingError.self) { try kept.add(3, encoded: [1, 2, 3]) }
        #expect(kept.count == 1)
    }
}
