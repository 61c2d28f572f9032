package import TrackModel

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
