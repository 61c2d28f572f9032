/// Which hooks ran for which alarms in one process of the agent: each once, one at a time, in the order of the alarms.
struct HookModel {
    private struct Run: Hashable {
        let hook: String
        let alarm: UInt64
    }

    /// The hooks that there are.
    private(set) var names: [String] = []
    private var started: Set<Run> = []
    private var ended: Set<Run> = []
    private var last: [String: UInt64] = [:]
    private var running: [String: UInt64] = [:]
    /// Runs of all processes.
    private(set) var runs = 0

    static let mostRunning = 4

    mutating func processStarts(_ names: [String]) {
        self.names = names
        (started, ended, last, running) = ([], [], [:], [:])
    }

    mutating func starts(_ hook: String, _ alarm: UInt64) throws(Violation) {
        guard started.insert(Run(hook: hook, alarm: alarm)).inserted else {
            throw Violation(guarantee: .hooks, detail: "hook \(hook) runs for alarm \(alarm) twice in one process")
        }
        if let other = running[hook] {
            throw Violation(
                guarantee: .hooks, detail: "hook \(hook) begins with alarm \(alarm) and still runs for \(other)")
        }
        guard alarm > last[hook] ?? 0 else {
            throw Violation(
                guarantee: .hooks, detail: "hook \(hook) runs for alarm \(alarm) after alarm \(last[hook] ?? 0)")
        }
        guard running.count < Self.mostRunning else {
            throw Violation(guarantee: .boundedMemory, detail: "\(running.count + 1) hooks run at a time")
        }
        (last[hook], running[hook]) = (alarm, alarm)
        runs += 1
    }

    /// True when it was the last hook of the alarm.
    mutating func ends(_ hook: String, _ alarm: UInt64) -> Bool {
        running[hook] = nil
        ended.insert(Run(hook: hook, alarm: alarm))
        return names.allSatisfy { ended.contains(Run(hook: $0, alarm: alarm)) }
    }
}
