import Foundation
import GRDB
package import Geodesy
import Geofencing
package import TrackStore

extension SQLiteTrackStore {
    package func replaceDistricts(
        of source: String, with districts: [NewDistrict]
    ) async throws(TrackStoreError) {
        if let problem = NewDistrict.problem(of: districts) { throw TrackStoreError(.failed, problem) }
        let shapes = districts.map { Data($0.shape.encoded) }
        try await writing { database in
            try database.execute(sql: "DELETE FROM district WHERE source = ?", arguments: [source])
            let insertion = try database.cachedStatement(
                sql: "INSERT INTO district (source, name, shape) VALUES (?, ?, ?)")
            var ids: [Int64] = []
            for (district, shape) in zip(districts, shapes) {
                try insertion.execute(arguments: [source, district.name, shape])
                ids.append(database.lastInsertedRowID)
            }
            let link = try database.cachedStatement(sql: "UPDATE district SET parent = ? WHERE id = ?")
            for (district, id) in zip(districts, ids) {
                if let parent = district.parent { try link.execute(arguments: [ids[parent], id]) }
            }
            try database.execute(sql: "UPDATE district_list SET version = version + 1")
        }
    }

    package func districts(
        unless known: Int64?
    ) async throws(TrackStoreError) -> (version: Int64, entries: [DistrictEntry]?) {
        try await reading { database in
            let version =
                try Int64.fetchOne(try database.cachedStatement(sql: "SELECT version FROM district_list")) ?? 0
            guard version != known else { return (version, nil) }
            let rows = try Row.fetchAll(database, sql: "SELECT id, name, parent, source FROM district ORDER BY id")
            return (version, rows.map { DistrictEntry(id: $0[0], name: $0[1], parent: $0[2], source: $0[3]) })
        }
    }

    package func districtShape(_ id: Int64) async throws(TrackStoreError) -> ShapeDraft? {
        try await reading { database in
            let select = try database.cachedStatement(sql: "SELECT shape FROM district WHERE id = ?")
            guard let bytes = try Data.fetchOne(select, arguments: [id]) else { return nil }
            do throws(MemoryCodingError) {
                return try ShapeDraft(encoded: [UInt8](bytes))
            } catch {
                throw TrackStoreError(.corrupt, "the district \(id) cannot be read: \(error.description)")
            }
        }
    }
}
