import FenceFiles
import Geofencing
package import TrackModel
package import TrackStore

// The fences of a service, for the operator to look at: the Web API changes them.
extension ServiceAdministration {
    /// In the order of their numbers, at most `limit`; `total` is how many there are.
    package func fences(
        of service: Int64, matching filter: FenceFilter, limit: Int
    ) async throws(ServerError) -> (total: Int, fences: [FenceReport]) {
        let found = try await records(of: service, filter, limit: limit)
        return (found.total, found.fences.map(FenceReport.init))
    }

    package func fence(_ fence: Int32, of service: Int64) async throws(ServerError) -> FenceReport {
        let found = try await records(of: service, FenceFilter(fences: [fence]), limit: 1)
        guard let record = found.fences.first else { throw Self.unknown([fence], of: service) }
        return FenceReport(record)
    }

    /// Fences as a GeoJSON FeatureCollection; every number of the filter must be a fence.
    package func exportFences(
        of service: Int64, matching filter: FenceFilter
    ) async throws(ServerError) -> [UInt8] {
        // One read, so that no fence is left out that was there all the time.
        let found = try await records(of: service, filter, limit: Int(Int32.max))
        let exported = found.fences.map(\.fence)
        let missing = Set(filter.fences ?? []).subtracting(exported.map(\.id))
        guard missing.isEmpty else { throw Self.unknown(missing.sorted(), of: service) }
        return FenceGeoJSON.collection(of: exported)
    }

    /// Alarms of a service that the server received from a time on: the newest `limit` of them, in the order in which they came;
    /// `total` is how many there are. Those of replaced fences are among them.
    package func alarms(
        of service: Int64, entity: String?, from: Timestamp, isOnlyStale: Bool, limit: Int
    ) async throws(ServerError) -> (total: Int, alarms: [AlarmLine]) {
        let id = try await known(service)
        let filter = AlarmFilter(entity: entity, from: from, includesStale: true)
        var (total, newest): (Int, [AlarmRecord]) = (0, [])
        var offset = 0
        do throws(TrackStoreError) {
            while true {
                let found = try await store.alarms(
                    in: id, matching: filter, page: Page(offset: offset, limit: Self.alarmPage))
                offset += found.alarms.count
                let meant = isOnlyStale ? found.alarms.filter(\.alarm.isStale) : found.alarms
                total += meant.count
                newest = (newest + meant).suffix(limit)
                guard !found.alarms.isEmpty, offset < found.total else { break }
            }
        } catch {
            throw ServerError(error)
        }
        return (total, newest.map(AlarmLine.init))
    }

    private static let alarmPage = 5000

    /// So many hours before now.
    package static func time(hoursAgo hours: Int64) -> Timestamp {
        SystemClock.now().adding(milliseconds: -hours * 3_600_000)
    }

    func records(
        of service: Int64, _ filter: FenceFilter, limit: Int
    ) async throws(ServerError) -> (total: Int, fences: [FenceRecord]) {
        let id = try await known(service)
        do throws(TrackStoreError) {
            return try await store.fences(in: id, matching: filter, page: Page(offset: 0, limit: limit))
        } catch {
            throw ServerError(error)
        }
    }

    private static func unknown(_ fences: [Int32], of service: Int64) -> ServerError {
        let named = fences.prefix(10).map(String.init).joined(separator: ", ")
        return ServerError(
            .notFound,
            "service \(service) has no such fence: \(named). `saker-server fence list \(service)` shows all fences")
    }
}
