import Diagnosing
import TrackModel

/// Who may log in as a vehicle.
enum IdentityChecks {
    static func identity(_ facts: ServerFacts) -> ServerCheck {
        guard let access = facts.access else { return .notChecked(.identity, "the store was not read") }
        let devices = access.reduce(0) { $0 + $1.devices }
        let counted = "\(devices) \(devices == 1 ? "vehicle has" : "vehicles have") a certificate"
        if let finding = enrolment(facts, access) { return finding }
        // Before the first device the key is the way in.
        guard let open = access.first(where: { $0.devices > 0 && !$0.keys.isEmpty }), let key = open.keys.first else {
            return endingToken(facts.now, access) ?? .ok(.identity, counted)
        }
        return .warning(
            .identity,
            "\(counted), but whoever has the key \(open.keys.joined(separator: ", ")) can log in as any vehicle of service "
                + "\(open.service)",
            "When every vehicle has a certificate (saker-server device list): saker-server key revoke \(open.service) \(key)"
        )
    }

    /// Milliseconds after which somebody has forgotten a vehicle that waits.
    private static let patience: Int64 = 86_400_000
    /// Milliseconds before the end of a token in which it is told of.
    private static let notice: Int64 = 7 * 86_400_000

    private static func enrolment(_ facts: ServerFacts, _ access: [VehicleAccessFacts]) -> ServerCheck? {
        if let problem = facts.enrolmentProblem {
            return .warning(
                .identity, "vehicles cannot get certificates: \(problem)",
                "Put the key of the authority beside its certificate, where the server may read it, or name it as "
                    + "authority_key in [device]")
        }
        let pending = access.reduce(0) { $0 + $1.pending }
        guard let oldest = access.compactMap(\.oldestPending).min(),
            facts.now.milliseconds - oldest.milliseconds > patience
        else { return nil }
        return .warning(
            .identity,
            "\(pending) \(pending == 1 ? "vehicle waits" : "vehicles wait") for approval, the first since "
                + TimeText.universal(oldest),
            "saker-server device list --state pending, then saker-server device approve or revoke")
    }

    private static func endingToken(_ now: Timestamp, _ access: [VehicleAccessFacts]) -> ServerCheck? {
        let ends = access.flatMap { facts in facts.tokenEnds.map { (facts.service, $0.key, $0.value) } }
        guard let (service, token, end) = ends.min(by: { $0.2 < $1.2 }), end.milliseconds - now.milliseconds < notice
        else { return nil }
        return .warning(
            .identity, "the enrolment token \(token) of service \(service) ends at \(TimeText.universal(end))",
            "If more vehicles are to come: saker-server token create \(service)")
    }
}
