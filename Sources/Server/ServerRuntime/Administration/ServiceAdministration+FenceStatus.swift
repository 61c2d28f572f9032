import FenceJudging
package import Geodesy
package import Geofencing
import TimeZones
import TrackModel
import TrackStore

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
