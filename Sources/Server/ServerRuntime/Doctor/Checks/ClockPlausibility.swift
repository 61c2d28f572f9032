import Diagnosing
import Ingest

/// The rule by which the server takes no points, see ``ClockRule``.
enum ClockPlausibility {
    static func problem(_ facts: ServerFacts) -> String? {
        guard !facts.clockMayGoBack, case .read(let store) = facts.store else {
            return ClockRule().problem(at: facts.now)
        }
        return ClockRule(newest: store.newestReceived).problem(at: facts.now)
    }
}
