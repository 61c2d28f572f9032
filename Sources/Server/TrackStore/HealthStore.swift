package import TrackModel

/// How the vehicles of a store are: one row for each entity that an agent has logged in as.
package protocol HealthStore: Sendable {
    /// Keeps the newest of each entity, in one transaction. An entity that is not there is passed over. A note that is older
    /// than what is kept, by at most ``HealthNote/lateness``, changes nothing. What is newer than that was noted by a clock
    /// that was ahead, and is replaced.
    func noteHealth(_ notes: [HealthNote]) async throws(TrackStoreError)
    /// Of one service or of all (nil), at most `limit` after a cursor, and the cursor to go on from; nil when there are no more. The
    /// order stays. Only of entities that are there. `heard` counts stored points too. Costs what it returns, wherever it
    /// begins.
    func health(in service: ServiceID?, after cursor: Int64?, limit: Int) async throws(TrackStoreError) -> HealthPage
}

/// Some vehicles of a store.
package struct HealthPage: Hashable, Sendable {
    package let vehicles: [VehicleHealth]
    /// Where the next page begins; nil: there is none.
    package let cursor: Int64?

    package init(_ vehicles: [VehicleHealth], cursor: Int64?) {
        (self.vehicles, self.cursor) = (vehicles, cursor)
    }
}

extension HealthStore {
    /// All pages, in chunks of `atOnce` rows; in the order of services and names.
    package func allHealth(
        in service: ServiceID?, atOnce: Int = 1000
    ) async throws(TrackStoreError) -> [VehicleHealth] {
        var found: [VehicleHealth] = []
        var cursor: Int64?
        repeat {
            let page = try await health(in: service, after: cursor, limit: atOnce)
            found += page.vehicles
            cursor = page.cursor
        } while cursor != nil
        return VehicleHealth.sorted(found)
    }
}

extension VehicleHealth {
    /// By services, and then by the bytes of names.
    package static func sorted(_ vehicles: [VehicleHealth]) -> [VehicleHealth] {
        vehicles.sorted {
            $0.entity.service == $1.entity.service
                ? $0.entity.name.utf8.lexicographicallyPrecedes($1.entity.name.utf8)
                : $0.entity.service < $1.entity.service
        }
    }
}

/// What the gateway has heard of a vehicle.
package struct HealthNote: Hashable, Sendable {
    /// Milliseconds by which a note may come after newer ones.
    package static let lateness: Int64 = 60_000

    package var entity: EntityKey
    /// By the server's clock.
    package var heard: Timestamp
    package var agentVersion: String
    /// Nil for a vehicle that logged in with an access key.
    package var device: DeviceID?
    /// Nil: what was reported before stays.
    package var report: HealthReport?
    /// The vehicle has said goodbye: nobody expects to hear from it.
    package var hasLeft: Bool

    package init(
        entity: EntityKey, heard: Timestamp, agentVersion: String, device: DeviceID?, report: HealthReport? = nil,
        hasLeft: Bool = false
    ) {
        self.entity = entity
        self.heard = heard
        self.agentVersion = agentVersion
        self.device = device
        self.report = report
        self.hasLeft = hasLeft
    }
}

/// What is known of a vehicle. The newest of it, and nothing before.
package struct VehicleHealth: Hashable, Sendable {
    package var entity: EntityKey
    /// When the server heard from the vehicle last, by its own clock: a login, a heartbeat or points.
    package var heard: Timestamp
    package var agentVersion: String
    /// Nil for a vehicle that logged in with an access key.
    package var device: DeviceID?
    package var report: HealthReport?
    /// When the report came; nil without one.
    package var reported: Timestamp?
    /// The vehicle has said goodbye.
    package var hasLeft: Bool

    package init(
        entity: EntityKey, heard: Timestamp, agentVersion: String, device: DeviceID? = nil,
        report: HealthReport? = nil, reported: Timestamp? = nil, hasLeft: Bool = false
    ) {
        self.entity = entity
        self.heard = heard
        self.agentVersion = agentVersion
        self.device = device
        self.report = report
        self.reported = reported
        self.hasLeft = hasLeft
    }
}

/// The vehicles that an operator expects to hear from, the worst first.
package struct FleetHealth: Hashable, Sendable {
    package struct Row: Hashable, Sendable {
        package let vehicle: VehicleHealth
        /// The worst first.
        package let troubles: [VehicleTrouble]
    }

    package let rows: [Row]

    /// `devices`: all of them. A vehicle whose device was revoked, forgotten or moved to another entity is left out: nobody
    /// expects to hear from it. One that was not heard for ``TroubleRules/forgottenAfter`` is left out too: it is out of use, and
    /// an alert about it would never end.
    package init(
        _ vehicles: [VehicleHealth], devices: [DeviceRecord], at now: Timestamp, rules: TroubleRules = TroubleRules()
    ) {
        let known = Dictionary(devices.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        rows = vehicles.filter { vehicle in
            guard now.milliseconds(since: vehicle.heard) / 1000 < rules.forgottenAfter else { return false }
            guard let id = vehicle.device else { return true }
            guard let device = known[id] else { return false }
            return device.state == .active
                && EntityKey(service: device.service, name: device.entity) == vehicle.entity
        }
        .map { vehicle in
            let cloned = vehicle.device.flatMap { known[$0]?.cloned }.map { [VehicleTrouble.cloned($0)] } ?? []
            return Row(vehicle: vehicle, troubles: cloned + rules.troubles(of: vehicle, at: now))
        }
        // Stable: what is as bad stays in the order of the store.
        .enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element)
    }

    package var troubled: [Row] { rows.filter { !$0.troubles.isEmpty } }

    /// How many vehicles are worst off by each kind of trouble.
    package var counts: [VehicleTrouble.Kind: Int] {
        Dictionary(rows.compactMap { $0.troubles.first.map { ($0.kind, 1) } }, uniquingKeysWith: +)
    }

    /// Vehicles without trouble: those that tell their health, and those that do not.
    package var well: (told: Int, untold: Int) {
        let well = rows.filter(\.troubles.isEmpty)
        let told = well.count { $0.vehicle.report != nil }
        return (told, well.count - told)
    }
}

extension FleetHealth.Row {
    /// Of two vehicles with the same worst trouble, the one with more points lost comes first.
    fileprivate var rank: Rank {
        guard let worst = troubles.first else { return Rank(kind: .max, points: 0) }
        let kind = VehicleTrouble.Kind.allCases.firstIndex(of: worst.kind) ?? 0
        if case .losing(_, let points) = worst { return Rank(kind: kind, points: points) }
        return Rank(kind: kind, points: 0)
    }

    fileprivate struct Rank: Comparable {
        let kind: Int
        let points: UInt64

        static func < (left: Self, right: Self) -> Bool {
            left.kind == right.kind ? left.points > right.points : left.kind < right.kind
        }
    }
}

extension TroubleRules {
    /// What the server knows of, the worst first; empty: the vehicle is well as far as anybody knows.
    package func troubles(of vehicle: VehicleHealth, at now: Timestamp) -> [VehicleTrouble] {
        let silence = max(0, now.milliseconds(since: vehicle.heard) / 1000)
        var troubles: [VehicleTrouble] = []
        if let report = vehicle.report, let reported = vehicle.reported {
            let age = max(0, now.milliseconds(since: reported) / 1000)
            troubles = lasting(report, age: age, at: now)
            // Of a vehicle that is off or gone nobody knows how it is.
            if !vehicle.hasLeft, silence < silentAfter { troubles += present(report, age: age) }
            troubles += certificate(report, at: now)
        }
        if !vehicle.hasLeft, silence >= silentAfter { troubles.append(.silent(silence)) }
        return Self.sorted(troubles)
    }
}
