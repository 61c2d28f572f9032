import Diagnosing
import Ingest

/// The configuration, and whether a server runs by it.
enum ConfigurationChecks {
    static func configuration(_ facts: ServerFacts) -> Finding {
        guard let first = facts.warnings.first else {
            return .ok("\(facts.configurationPath) is sound")
        }
        let more = facts.warnings.count > 1 ? " (and \(facts.warnings.count - 1) more)" : ""
        return .warning(
            "\(facts.configurationPath): \(first)\(more)",
            "Only the server's user may read a secret: sudo chmod o= FILE")
    }

    static func server(_ facts: ServerFacts) -> Finding {
        switch facts.isServed {
        case true?: .ok("a saker-server serves this store")
        case false?:
            .warning(
                "no saker-server serves this store",
                "Start it: sudo systemctl enable --now saker-server. If it stops again: journalctl -u saker-server -n 50"
            )
        case nil: .notChecked("this user may not look at the store's lock", ServerDoctor.asRoot)
        }
    }

    static func clock(_ facts: ServerFacts) -> Finding {
        let keep = Remedy.clock
        if let problem = ClockPlausibility.problem(facts) {
            return .failed(problem, "Set the clock and keep it: \(keep)")
        }
        return facts.isClockKept
            ? .ok("synchronised")
            : .warning("nobody keeps the system clock synchronised", keep)
    }
}

/// The rule by which the server takes no points, see ``ClockRule``.
enum ClockPlausibility {
    static func problem(_ facts: ServerFacts) -> String? {
        guard !facts.clockMayGoBack, case .read(let store) = facts.store else {
            return ClockRule().problem(at: facts.now)
        }
        return ClockRule(newest: store.newestReceived).problem(at: facts.now)
    }
}
