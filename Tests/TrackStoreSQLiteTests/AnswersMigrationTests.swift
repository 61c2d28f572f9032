import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// A store of the release before services said how their clients are answered.
@Suite struct AnswersMigrationTests {
    @Test func theServicesOfSchemaEighteenAnswerAsTheConfigurationSays() async throws {
        let bench = try Workbench()
        let file = try SQLiteConnection(path: bench.path, .create)
        try Schema.migrate(file, through: 18)
        #expect(try file.value(Int.self, "PRAGMA user_version") == 18)
        try file.execute("INSERT INTO service (id, name, created) VALUES (1, 'fleet', 5)")
        file.close()
        let store = try await bench.open()
        let service = try #require(ServiceID(rawValue: 1))
        #expect(try await store.checkIntegrity() == [])
        #expect(try await store.answers(of: service) == AnswerForms())
        let answers = AnswerForms(vertices: .objects, unknownEntity: .success)
        try await store.setAnswers(answers, of: service)
        try store.close()
        let again = try await bench.open()
        #expect(try await again.answers(of: service) == answers)
        #expect(try await again.services().map(\.answers) == [answers])
    }
}
