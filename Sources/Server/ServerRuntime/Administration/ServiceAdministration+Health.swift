import JSON
import TrackModel
package import TrackStore

// How the vehicles are.
extension ServiceAdministration {
    /// Of one service or of all (nil). `silentAfter`: seconds after which a vehicle that has not said goodbye is in trouble.
    package func fleetHealth(of service: Int64?, silentAfter: Int64) async throws(ServerError) -> FleetHealth {
        var id: ServiceID?
        if let service { id = try await known(service) }
        var rules = TroubleRules()
        rules.silentAfter = silentAfter
        let devices = try await devices(of: service)
        do throws(TrackStoreError) {
            let vehicles = try await store.allHealth(in: id)
            return FleetHealth(vehicles, devices: devices, at: SystemClock.now(), rules: rules)
        } catch {
            throw ServerError(error)
        }
    }
}

extension FleetHealth.Row {
    /// One JSON object without line breaks. Times are milliseconds since 1970, ages are seconds when the vehicle told them.
    package var json: String {
        var members: [String: JSONValue] = [
            "service": .integer(vehicle.entity.service.rawValue), "entity": .string(vehicle.entity.name),
            "heard": .integer(vehicle.heard.milliseconds), "agent_version": .string(vehicle.agentVersion),
            "troubles": .array(
                troubles.map { .object(["kind": .string($0.kind.rawValue), "text": .string("\($0)")]) }),
        ]
        if let device = vehicle.device { members["device"] = .string("\(device)") }
        if let report = vehicle.report, let reported = vehicle.reported {
            members["report"] = report.json(at: reported)
        }
        return JSONValue.object(members).description
    }
}

extension HealthReport {
    fileprivate func json(at time: Timestamp) -> JSONValue {
        let losses = losses.map { ($0.key.rawValue, JSONValue.integer(Int64(clamping: $0.value))) }
        var members: [String: JSONValue] = [
            "time": .integer(time.milliseconds), "backlog": .integer(Int64(clamping: backlog)),
            "losses": .object(Dictionary(uniqueKeysWithValues: losses)), "receiver": .string(receiver.rawValue),
            "gathering": .bool(isGathering), "disk": .string(disk.rawValue),
        ]
        if let lossAge { members["loss_age"] = .integer(lossAge) }
        if let fixAge { members["fix_age"] = .integer(fixAge) }
        if let verdict {
            members["tracked"] = .bool(verdict.obstacle == nil)
            if let obstacle = verdict.obstacle {
                members["obstacle"] = .string(obstacle.rawValue)
                members["obstacle_age"] = .integer(verdict.age)
                members["rejected"] = .integer(Int64(clamping: verdict.rejected))
            }
        }
        if let certificateEnd { members["certificate_end"] = .integer(certificateEnd) }
        if let dates { members["dates"] = .string("\(dates)") }
        return .object(members)
    }
}
