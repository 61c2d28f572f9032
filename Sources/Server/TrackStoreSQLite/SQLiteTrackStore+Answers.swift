import GRDB
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func setAnswers(_ answers: AnswerForms, of service: ServiceID) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            try database.execute(
                sql: "UPDATE service SET vertexes = ?, unknown_entity = ? WHERE id = ?",
                arguments: [
                    answers.vertices.map { $0 == .text }, answers.unknownEntity.map { $0 == .success ? 0 : 3003 },
                    service.rawValue,
                ])
        }
    }

    package func answers(of service: ServiceID) async throws(TrackStoreError) -> AnswerForms {
        try await reading { database in
            let row = try database.cachedStatement(
                sql: "SELECT \(AnswerForms.columns) FROM service WHERE id = ? AND deletion IS NULL")
            guard let found = try Row.fetchOne(row, arguments: [service.rawValue]) else {
                throw TrackStoreError(.unknownService, "there is no service \(service.rawValue)")
            }
            return AnswerForms(found, from: 0)
        }
    }
}

extension AnswerForms {
    /// The columns that ``init(_:from:)`` needs, in its order.
    static let columns = "vertexes, unknown_entity"

    init(_ row: Row, from first: Int) {
        let isText: Bool? = row[first]
        let status: Int64? = row[first + 1]
        self.init(
            vertices: isText.map { $0 ? .text : .objects }, unknownEntity: status.map { $0 == 0 ? .success : .notFound }
        )
    }
}
