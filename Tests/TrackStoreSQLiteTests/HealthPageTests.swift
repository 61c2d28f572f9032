import SQLDatabase
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import StoreRecords
@testable import TrackStoreSQLite

/// What reading a page of the fleet's health costs.
@Suite struct HealthPageTests {
    /// The figures are read every 15 s, and a store may have a million entities of which few have told anything.
    @Test(arguments: [false, true]) func aPageIsReadByTheKeyOfTheTableAlone(isOfService: Bool) async throws {
        let bench = try Workbench()
        let store = try await bench.open()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        let statement = SQLiteTrackStore.healthStatement(in: isOfService ? service : nil, .sqlite)
        let plan = try await store.database.read { database in
            try database.rows(
                "EXPLAIN QUERY PLAN " + statement,
                isOfService ? [0, 10, service.rawValue] : [0, 10]
            ) { try $0[3] as String }
        }
        #expect(plan.first?.hasPrefix("SEARCH h USING INTEGER PRIMARY KEY (rowid>?)") == true, "\(plan)")
        #expect(plan.allSatisfy { $0.hasPrefix("SEARCH ") && $0.contains("INTEGER PRIMARY KEY") }, "\(plan)")
    }
}
