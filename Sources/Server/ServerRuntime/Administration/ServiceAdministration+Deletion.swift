import TrackModel
package import TrackStore

// The end of a service.
extension ServiceAdministration {
    /// What a deletion would take away.
    package struct DeletionPlan: Sendable {
        package let service: ServiceRecord
        package let holdings: ServiceHoldings
    }

    /// Nil: the service was deleted before, and what is left of it goes with ``removeDeletedServices()``.
    package func deletionPlan(for service: Int64) async throws(ServerError) -> DeletionPlan? {
        do throws(TrackStoreError) {
            if let id = ServiceID(rawValue: service) {
                if let record = try await store.services().first(where: { $0.id == id }) {
                    return DeletionPlan(service: record, holdings: try await store.holdings(of: id))
                }
                if try await !store.deletedServices(among: [id]).isEmpty { return nil }
            }
        } catch {
            throw ServerError(error)
        }
        throw ServerError(.notFound, "there is no service \(service): `saker-server service list` shows all")
    }

    /// From its return on, nothing of the service opens anything. Nobody can undo it.
    package func delete(_ plan: DeletionPlan) async throws(ServerError) {
        let (service, held) = (plan.service, plan.holdings)
        do throws(TrackStoreError) {
            try await store.deleteService(service.id)
            acts.note(
                .serviceDelete, in: service.id,
                about: "\(service.name) (\(held.entities) entities, \(held.points) points, \(held.keys) keys, "
                    + "\(held.devices) devices)")
        } catch {
            throw ServerError(error)
        }
    }

    /// Removes what deleted services had. `onStep` hears how many rows are gone. A running server goes on when this process ends
    /// before.
    package func removeDeletedServices(onStep: (Int) -> Void) async throws(ServerError) {
        var (removed, writing) = (0, writing)
        do throws(TrackStoreError) {
            while true {
                let count = try await writing.step { () async throws(TrackStoreError) in
                    try await store.removeDeletedServices(limit: ServiceRemoving.rowsAtOnce)
                }
                if count == 0 { return }
                removed += count
                onStep(removed)
            }
        } catch {
            throw ServerError(error)
        }
    }
}
