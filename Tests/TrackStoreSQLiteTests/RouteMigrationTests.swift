import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// A store of the release before jobs for frequent routes, and jobs in a store that is opened again.
@Suite struct RouteMigrationTests {
    @Test func aStoreOfTheSchemaBeforeTakesJobsAndKeepsThem() async throws {
        let bench = try Workbench()
        let step = try #require(Schema.steps.firstIndex { $0.contains("route_job") })
        let file = try SQLiteConnection(path: bench.path, .create)
        try Schema.migrate(file, through: step)
        try file.execute(
            "INSERT INTO service (id, name, created) VALUES (1, 'fleet', 5)")
        file.close()
        let store = try await bench.open()
        let service = try #require(ServiceID(rawValue: 1))
        #expect(try await store.checkIntegrity() == [])
        try await store.addEntity(NewEntity(name: "van"), in: service, at: Timestamp(seconds: 1))
        let order = RouteJobOrder(
            entity: "van", from: Timestamp(seconds: 1), through: Timestamp(seconds: 2), minutes: 5,
            processing: "straight")
        let made = try await store.addRouteJob(
            order, in: service, at: Timestamp(seconds: 3), renewing: Timestamp(seconds: 0))
        let claimed = try await store.claimRouteJob(
            by: 7, at: Timestamp(seconds: 4), through: Timestamp(seconds: 64))
        #expect(claimed?.number == made.number)
        try store.close()
        // The server was killed: another one begins the job anew when the claim has ended.
        let again = try await bench.open()
        #expect(try await again.routeJob(order, in: service)?.state == .running)
        let none = try await again.claimRouteJob(by: 8, at: Timestamp(seconds: 60), through: Timestamp(seconds: 120))
        #expect(none == nil)
        let next = try await again.claimRouteJob(by: 8, at: Timestamp(seconds: 65), through: Timestamp(seconds: 120))
        #expect(next?.number == made.number)
        #expect(
            try await again.settleRouteJob(made.number, by: 8, .routes([9]), at: Timestamp(seconds: 66)))
        #expect(try await again.routeJob(order, in: service)?.result == .routes([9]))
        #expect(try await again.checkIntegrity() == [])
    }
}
