import Geodesy
import JSON
package import TrackModel
package import TrackStore

/// Whether a vehicle is online, as the store tells a command that is no part of the server.
package struct Presence: Sendable {
    /// When the server heard from the vehicle last, by its own clock; nil: never.
    package let heard: Timestamp?
    package let isOnline: Bool
    package let agentVersion: String?

    /// `silence`: milliseconds after which the server ends a session in which it hears nothing. `isServing` false: no server
    /// runs, so no vehicle is online.
    package init(_ vehicle: VehicleHealth?, isServing: Bool, silence: Int64, at now: Timestamp) {
        heard = vehicle?.heard
        agentVersion = vehicle?.agentVersion
        guard let vehicle, isServing, !vehicle.hasLeft else {
            isOnline = false
            return
        }
        isOnline = now.milliseconds(since: vehicle.heard) < silence
    }
}

/// An entity, where it is, and whether its vehicle is online.
package struct EntityLine: Sendable {
    package let service: ServiceID
    package let entity: EntityRecord
    package let presence: Presence

    /// Of the latest point, in WGS 84.
    package var place: (latitude: Double, longitude: Double)? {
        guard let point = entity.latest?.point else { return nil }
        let datum: Datum =
            switch point.coordinateType {
            case .wgs84: .wgs84
            case .gcj02: .gcj02
            case .bd09ll: .bd09
            }
        let place = Degrees(latitude: point.fix.coordinate.latitude, longitude: point.fix.coordinate.longitude)
        let shown = DatumConversion.convert(place, from: datum, to: .wgs84)
        return (shown.latitude, shown.longitude)
    }

    /// km/h; nil: unknown.
    package var speed: Double? { entity.latest?.point.fix.speed.map { Double($0) * 0.036 } }
}

// Which vehicles are there, and where.
extension ServiceAdministration {
    /// The vehicles of one service or of all (nil), by their entities.
    package func presences(
        of service: Int64?, _ configuration: ServerConfiguration
    ) async throws(ServerError) -> Presences {
        var id: ServiceID?
        if let service { id = try await known(service) }
        do throws(TrackStoreError) {
            let vehicles = try await store.allHealth(in: id)
            return Presences(vehicles, configuration, at: SystemClock.now())
        } catch {
            throw ServerError(error)
        }
    }

    /// In the order of services and names. `names` empty: all. Throws when one of the names is no entity.
    package func entities(
        of service: Int64?, named names: [String], _ configuration: ServerConfiguration
    ) async throws(ServerError) -> [EntityLine] {
        try await entities(of: service, named: names, try await presences(of: service, configuration))
    }

    func entities(
        of service: Int64?, named names: [String], _ presences: Presences
    ) async throws(ServerError) -> [EntityLine] {
        var lines: [EntityLine] = []
        for record in try await list() where service == nil || record.id.rawValue == service {
            let filter = EntityFilter(names: names.isEmpty ? nil : names)
            do throws(TrackStoreError) {
                var count = 0
                while true {
                    let page = try await store.entities(
                        in: record.id, matching: filter, page: Page(offset: count, limit: 1000))
                    lines += page.entities.map {
                        EntityLine(
                            service: record.id, entity: $0,
                            presence: presences[EntityKey(service: record.id, name: $0.name)])
                    }
                    count += page.entities.count
                    if page.entities.isEmpty || count >= page.total { break }
                }
            } catch {
                throw ServerError(error)
            }
        }
        let found = Set(lines.map(\.entity.name))
        if let missing = names.first(where: { !found.contains($0) }) {
            throw ServerError(.notFound, "there is no entity \(missing): saker-server entity list shows all")
        }
        return lines
    }
}

/// The vehicles that an agent has logged in as.
package struct Presences: Sendable {
    private let vehicles: [EntityKey: VehicleHealth]
    private let silence: Int64
    private let now: Timestamp
    private let isServing: Bool

    init(_ vehicles: [VehicleHealth], _ configuration: ServerConfiguration, at now: Timestamp) {
        self.init(
            vehicles,
            // A session ends after three intervals without a heartbeat; the store learns of a heartbeat a little later.
            silence: 3 * Int64(configuration.device.heartbeatInterval) * 1000 + Self.lateness,
            // Who may not look does not know; then what was heard alone decides.
            isServing: ServeLock.isHeld(store: configuration.store.path) ?? true, at: now)
    }

    init(_ vehicles: [VehicleHealth], silence: Int64, isServing: Bool, at now: Timestamp) {
        self.vehicles = Dictionary(vehicles.map { ($0.entity, $0) }, uniquingKeysWith: { $1 })
        (self.silence, self.isServing, self.now) = (silence, isServing, now)
    }

    private static let lateness: Int64 = 20_000

    package subscript(entity: EntityKey) -> Presence {
        Presence(vehicles[entity], isServing: isServing, silence: silence, at: now)
    }

    /// Of a device: what was heard from another one with the same entity is not its own. The server ends the session of a device
    /// that is not active.
    package subscript(device: DeviceRecord) -> Presence {
        let vehicle = vehicles[EntityKey(service: device.service, name: device.entity)]
        return Presence(
            vehicle?.device == device.id ? vehicle : nil, isServing: isServing && device.state == .active,
            silence: silence, at: now)
    }
}

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
