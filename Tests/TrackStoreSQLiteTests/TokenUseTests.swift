import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackStoreSQLite
import TrackTestKit

@Suite struct TokenUseTests {
    /// An image on ten thousand boxes, and one box more.
    @Test func aTokenForTenThousandMakesNoMore() async throws {
        let bench = try Workbench()
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let pattern = try NamePattern("van {number}")
        _ = try await store.addToken(.sample(1, in: service, uses: 10_000, pattern: pattern), at: .at(1))
        // Nine thousand boxes are long there.
        let file = try SQLiteConnection(path: bench.path, .create)
        try file.script("UPDATE token SET used = 9000, last_name = 9000")
        file.close()
        var generator = SplitMix(state: 11)
        var refused = 0
        for number in 9_000..<10_001 {
            var claim = ClaimRequest.sample(1)
            claim.keyHash = (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 2))) }
            claim.device = DeviceID.random(using: &generator)
            let outcome = try await store.claim(claim, at: .at(2))
            guard let code = outcome.refusalCode else { continue }
            #expect(code == .tokenUsedUp && number == 10_000)
            refused += 1
        }
        #expect(refused == 1)
        #expect(try await store.tokens(in: nil).map(\.used) == [10_000])
        #expect(try await store.deviceCensus() == DeviceCensus(active: 1_000))
        let last = try await store.devices(in: service, page: Page(offset: 0, limit: 1000)).devices
        #expect(Set(last.map(\.entity)) == Set((9_001...10_000).map { "van \($0)" }))
        #expect(try await store.checkIntegrity() == [])
    }
}
