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

    /// Fences as a GeoJSON FeatureCollection. Throws for a number or a name that no fence has, and for a fence that cannot be read.
    package func exportFences(
        _ choice: FenceChoice, of service: Int64
    ) async throws(ServerError) -> (count: Int, bytes: [UInt8]) {
        let found = try await fencesToDelete(choice, of: service)
        if let broken = found.unreadable.first {
            throw ServerError(.store, "fence \(broken.fence) cannot be read: \(broken.reason)")
        }
        let fences = found.fences.map(\.fence)
        return (fences.count, FenceGeoJSON.collection(of: fences))
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
}
