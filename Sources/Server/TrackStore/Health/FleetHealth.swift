package import TrackModel

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
