package import TrackModel
package import TrackStore

extension ReferenceTrackStore {
    package func noteHealth(_ notes: [HealthNote]) throws(TrackStoreError) {
        try checkOpen()
        for note in notes {
            guard entityTable[note.entity] != nil else { continue }
            let known = healthList.first { $0.entity == note.entity }
            if let known, (1...HealthNote.lateness).contains(known.heard.milliseconds(since: note.heard)) { continue }
            healthList.removeAll { $0.entity == note.entity }
            healthList.append(
                VehicleHealth(
                    entity: note.entity, heard: note.heard, agentVersion: note.agentVersion, device: note.device,
                    report: note.report ?? known?.report,
                    reported: note.report == nil ? known?.reported : note.heard, hasLeft: note.hasLeft))
        }
    }

    package func health(
        in service: ServiceID?, after mark: Int64?, limit: Int
    ) throws(TrackStoreError) -> HealthPage {
        try checkOpen()
        let first = Int(mark ?? 0)
        let all = VehicleHealth.sorted(healthList.filter { service == nil || $0.entity.service == service })
        let found = all.dropFirst(first).prefix(limit).map { vehicle in
            var vehicle = vehicle
            if let received = entityTable[vehicle.entity]?.record.latest?.received, received > vehicle.heard {
                vehicle.heard = received
            }
            return vehicle
        }
        return HealthPage(found, mark: found.count < limit ? nil : Int64(first + found.count))
    }
}
