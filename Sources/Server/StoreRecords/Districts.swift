package import Geodesy
import Geofencing
import SQLDatabase
package import TrackStore

extension SQLRecordStore {
    package func replaceDistricts(
        of source: String, with districts: [NewDistrict]
    ) async throws(TrackStoreError) {
        if let problem = NewDistrict.problem(of: districts) { throw TrackStoreError(.failed, problem) }
        let shapes = districts.map { $0.shape.encoded }
        try await writing { database in
            try database.execute("DELETE FROM district WHERE source = ?", [source])
            let insertion = try database.statement(
                "INSERT INTO district (source, name, shape) VALUES (?, ?, ?) RETURNING id")
            var ids: [Int64] = []
            for (district, shape) in zip(districts, shapes) {
                ids += try insertion.values(Int64.self, [source, district.name, shape])
            }
            let link = try database.statement("UPDATE district SET parent = ? WHERE id = ?")
            for (district, id) in zip(districts, ids) {
                if let parent = district.parent { try link.execute([ids[parent], id]) }
            }
            try database.execute("UPDATE district_list SET version = version + 1")
        }
    }

    package func districts(
        unless known: Int64?
    ) async throws(TrackStoreError) -> (version: Int64, entries: [DistrictEntry]?) {
        try await reading { database in
            let version =
                try database.value(Int64.self, "SELECT version FROM district_list") ?? 0
            guard version != known else { return (version, nil) }
            let entries = try database.rows("SELECT id, name, parent, source FROM district ORDER BY id") { row in
                try DistrictEntry(id: row[0], name: row[1], parent: row[2], source: row[3])
            }
            return (version, entries)
        }
    }

    package func districtShape(_ id: Int64) async throws(TrackStoreError) -> ShapeDraft? {
        try await reading { database in
            let select = try database.statement("SELECT shape FROM district WHERE id = ?")
            guard let bytes = try select.value([UInt8].self, [id]) else { return nil }
            do throws(FenceStateCodingError) {
                return try ShapeDraft(encoded: bytes)
            } catch {
                throw TrackStoreError(.corrupt, "the district \(id) cannot be read: \(error.description)")
            }
        }
    }
}
