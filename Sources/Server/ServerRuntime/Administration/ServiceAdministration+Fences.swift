import FenceFiles
import FenceJudging
package import Geodesy
package import Geofencing
import TimeZones
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

// Where entities and places are with regard to the fences of a service.
extension ServiceAdministration {
    /// Where an entity, or a place, is with regard to one fence.
    package struct FenceRelation: Sendable {
        package let fence: Int32
        package let name: String
        package let status: FenceStatus
    }

    /// Where an entity is, as its alarms told it. Fences that do not watch the entity are left out.
    package func relations(
        of entity: String, to choice: FenceChoice, of service: Int64
    ) async throws(ServerError) -> [FenceRelation] {
        let id = try await known(service)
        let records = try await records(choice, of: service)
        do throws(TrackStoreError) {
            guard try await store.entity(named: entity, in: id) != nil else {
                throw TrackStoreError(.unknownEntity, "service \(service) has no entity named '\(entity.prefix(128))'")
            }
            let statuses = try await FenceStatuses(
                of: EntityKey(service: id, name: entity), in: store, zones: SystemZones().offsets)
            return records.compactMap { record in
                statuses.status(of: record).map {
                    FenceRelation(fence: record.fence.id, name: record.fence.definition.name, status: $0)
                }
            }
        } catch {
            throw ServerError(error)
        }
    }

    /// Where a place in WGS 84 is: geometry alone.
    package func relations(
        of place: Degrees, to choice: FenceChoice, of service: Int64
    ) async throws(ServerError) -> [FenceRelation] {
        guard let coordinate = Coordinate(latitude: place.latitude, longitude: place.longitude) else {
            throw ServerError(.usage, "\(place.latitude),\(place.longitude) is no place")
        }
        return try await records(choice, of: service).map { record in
            FenceRelation(
                fence: record.fence.id, name: record.fence.definition.name,
                status: FenceStatus(of: FencePlan(id: record.fence.id, shape: record.fence.shape), at: coordinate))
        }
    }
}

/// A fence as an administrator is told of it.
package struct FenceReport: Sendable {
    let record: FenceRecord

    init(_ record: FenceRecord) {
        self.record = record
    }

    package var fence: Fence { record.fence }
    package var number: Int32 { record.fence.id }
    package var revision: Int32 { record.fence.revision }
    package var name: String { record.fence.definition.name }

    /// Since when it watches everyone.
    package var everyoneSince: Timestamp? { record.everyoneSince }
}

/// An alarm as an administrator is told of it.
package struct AlarmLine: Sendable {
    private let record: AlarmRecord

    init(_ record: AlarmRecord) {
        self.record = record
    }

    package var received: String { TimeText.universal(record.received) }
    /// When the point was made that proved it.
    package var happened: String { TimeText.universal(record.alarm.point.time) }
    package var entity: String { record.entity }
    /// Its number and its revision. A fence of a vehicle's own bears the vehicle's number.
    package var fence: String {
        (record.alarm.source == .server ? "" : "own ") + "\(record.alarm.fence) rev. \(record.alarm.revision)"
    }
    package var action: String { record.alarm.action.rawValue }
    package var name: String { record.alarm.name }
    /// Judged by a fence that had been replaced; told by the vehicle alone.
    package var state: String {
        [record.alarm.isStale ? "stale" : nil, record.alarm.isReported ? "reported" : nil].compactMap(\.self)
            .joined(separator: ", ")
    }
}
