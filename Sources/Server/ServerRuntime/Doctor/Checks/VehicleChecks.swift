import Diagnosing
import TrackModel

/// How the vehicles are. What is wrong with a vehicle keeps no server from its work, so this never fails.
enum VehicleChecks {
    static func vehicles(_ facts: ServerFacts) -> Finding {
        guard let fleet = facts.fleet else { return .notChecked("the store was not read") }
        let troubled = fleet.troubles.values.reduce(0, +)
        let all = "\(fleet.vehicles) \(fleet.vehicles == 1 ? "vehicle" : "vehicles")"
        guard troubled > 0 else { return .ok("no trouble is known of \(all)") }
        let kinds = VehicleTrouble.Kind.allCases.compactMap { kind in
            fleet.troubles[kind].map { "\($0) \(kind.text)" }
        }
        return .warning(
            "\(troubled) of \(all) \(troubled == 1 ? "is" : "are") in trouble: \(kinds.joined(separator: ", "))",
            "Which, and why: saker-server device list --trouble")
    }
}

extension VehicleTrouble.Kind {
    fileprivate var text: String {
        switch self {
        case .cloned: "with a copy of its disk in use"
        case .losing: "lost points"
        case .disk: "with a disk that refuses points"
        case .receiver: "without a receiver"
        case .refused: "with a refused connection"
        case .noPoints: "without new points"
        case .notGathering: "not gathering"
        case .dates: "with wrong or missing dates"
        case .silent: "not heard for a day"
        case .certificate: "with a certificate that ends"
        case .behind: "far behind with uploads"
        case .noFix: "without a position"
        }
    }
}

/// Who may log in as a vehicle.
enum IdentityChecks {
    /// One of several things: none of them hides another.
    private struct Problem {
        var found: String
        var remedy: String
    }

    static func identity(_ facts: ServerFacts) -> Finding {
        guard let access = facts.access else { return .notChecked("the store was not read") }
        let devices = access.reduce(0) { $0 + $1.devices }
        let counted = "\(devices) \(devices == 1 ? "vehicle has" : "vehicles have") a certificate"
        let problems = [
            authority(facts), keys(access), waiting(facts.now, access), endingToken(facts.now, access),
        ].compactMap { $0 }
        guard !problems.isEmpty else { return .ok(counted) }
        return .warning(
            ([counted] + problems.map(\.found)).joined(separator: "; "),
            problems.map(\.remedy).joined(separator: ". "))
    }

    /// Milliseconds after which somebody has forgotten a vehicle that waits.
    private static let longestWait: Int64 = 86_400_000
    /// Milliseconds before the end of a token in which it is told of.
    private static let notice: Int64 = 7 * 86_400_000

    private static func authority(_ facts: ServerFacts) -> Problem? {
        facts.enrolmentProblem.map {
            Problem(
                found: "vehicles cannot get certificates: \($0)",
                remedy:
                    "Put the key of the authority beside its certificate, where the server may read it, or name it as "
                    + "authority_key in [device]")
        }
    }

    /// Also of a service without a device: whoever opens one vehicle is all vehicles of it.
    private static func keys(_ access: [VehicleAccessFacts]) -> Problem? {
        let open = access.filter { !$0.keys.isEmpty }
        guard !open.isEmpty else { return nil }
        let found = open.map {
            "whoever has the key \($0.keys.joined(separator: " or ")) can log in as any vehicle of service \($0.service)"
        }
        let commands = open.flatMap { facts in facts.keys.map { "saker-server key revoke \(facts.service) \($0)" } }
        return Problem(
            found: found.joined(separator: "; "),
            remedy: "Give every vehicle a certificate (saker-server token create, saker-server device list), then: "
                + commands.joined(separator: "; "))
    }

    private static func waiting(_ now: Timestamp, _ access: [VehicleAccessFacts]) -> Problem? {
        let pending = access.reduce(0) { $0 + $1.pending }
        guard let oldest = access.compactMap(\.oldestPending).min(),
            now.milliseconds - oldest.milliseconds > longestWait
        else { return nil }
        return Problem(
            found: "\(pending) \(pending == 1 ? "vehicle waits" : "vehicles wait") for approval, the first since "
                + TimeText.universal(oldest),
            remedy: "saker-server device list --state pending, then saker-server device approve or revoke")
    }

    private static func endingToken(_ now: Timestamp, _ access: [VehicleAccessFacts]) -> Problem? {
        let ends = access.flatMap { facts in facts.tokenEnds.map { (facts.service, $0.key, $0.value) } }
        guard let (service, token, end) = ends.min(by: { $0.2 < $1.2 }), end.milliseconds - now.milliseconds < notice
        else { return nil }
        return Problem(
            found: "the enrolment token \(token) of service \(service) ends at \(TimeText.universal(end))",
            remedy: "If more vehicles are to come: saker-server token create \(service)")
    }
}
