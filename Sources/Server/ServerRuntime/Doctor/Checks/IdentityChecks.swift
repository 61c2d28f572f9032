import Diagnosing

/// Who may log in as a vehicle.
enum IdentityChecks {
    static func identity(_ facts: ServerFacts) -> ServerCheck {
        guard let access = facts.access else { return .notChecked(.identity, "the store was not read") }
        let devices = access.reduce(0) { $0 + $1.devices }
        let counted = "\(devices) \(devices == 1 ? "vehicle has" : "vehicles have") a certificate"
        // Before the first device the key is the way in.
        guard let open = access.first(where: { $0.devices > 0 && !$0.keys.isEmpty }), let key = open.keys.first else {
            return .ok(.identity, counted)
        }
        return .warning(
            .identity,
            "\(counted), but whoever has the key \(open.keys.joined(separator: ", ")) can log in as any vehicle of service "
                + "\(open.service)",
            "When every vehicle has a certificate (saker-server device list): saker-server key revoke \(open.service) \(key)"
        )
    }
}
