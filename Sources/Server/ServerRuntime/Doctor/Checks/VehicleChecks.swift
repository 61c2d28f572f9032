import Diagnosing
import TrackModel

/// How the vehicles are. What is wrong with a vehicle keeps no server from its work, so this never fails.
enum VehicleChecks {
    static func vehicles(_ facts: ServerFacts) -> ServerCheck {
        guard let fleet = facts.fleet else { return .notChecked(.vehicles, "the store was not read") }
        let troubled = fleet.troubles.values.reduce(0, +)
        let all = "\(fleet.vehicles) \(fleet.vehicles == 1 ? "vehicle" : "vehicles")"
        guard troubled > 0 else { return .ok(.vehicles, "no trouble is known of \(all)") }
        let kinds = VehicleTrouble.Kind.allCases.compactMap { kind in
            fleet.troubles[kind].map { "\($0) \(kind.text)" }
        }
        return .warning(
            .vehicles,
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
