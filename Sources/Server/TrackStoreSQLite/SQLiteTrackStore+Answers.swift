import SQLDatabase
package import TrackModel
package import TrackStore

extension SQLiteTrackStore {
    package func setAnswers(_ answers: AnswerForms, of service: ServiceID) async throws(TrackStoreError) {
        try await writing { database in
            try self.check(service, database)
            try database.execute(
                "UPDATE service SET vertexes = ?, unknown_entity = ? WHERE id = ?",
                [
                    answers.vertices.map { $0 == .text }, answers.unknownEntity.map { $0 == .success ? 0 : 3003 },
                    service.rawValue,
                ])
        }
    }

    package func answers(of service: ServiceID) async throws(TrackStoreError) -> AnswerForms {
        try await reading { database in
            let found = try database.row(
                "SELECT \(AnswerForms.columns) FROM service WHERE id = ? AND deletion IS NULL", [service.rawValue]
            ) { try AnswerForms($0, from: 0) }
            guard let found else {
                throw TrackStoreError(.unknownService, "there is no service \(service.rawValue)")
            }
            return found
        }
    }
}

extension AnswerForms {
    /// The columns that ``init(_:from:)`` needs, in its order.
    static let columns = "vertexes, unknown_entity"

    init(_ row: SQLRow, from first: Int) throws {
        let isText: Bool? = try row[first]
        let status: Int64? = try row[first + 1]
        self.init(
            vertices: isText.map { $0 ? .text : .objects }, unknownEntity: status.map { $0 == 0 ? .success : .notFound }
        )
    }
}
