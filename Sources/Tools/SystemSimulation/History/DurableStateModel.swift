/// What an agent may come back with after a restart: the value that it called durable last, or one that it was told since.
struct DurableStateModel<Value: Equatable> {
    private var entries: [(number: Int, value: Value)]
    private var next = 1

    init(_ value: Value) {
        entries = [(0, value)]
    }

    /// The agent has another value in force. Returns the number of the change.
    mutating func changed(to value: Value) -> Int {
        entries.append((next, value))
        next += 1
        return next - 1
    }

    /// A caller is answered. Returns the number of the change.
    ///
    /// `told`: what the answered calls make of it. `inForce`: what is in force while other calls wait for their answers,
    /// which may be in force, and so on the disk, as well; nil when none waits.
    mutating func answered(told: Value, inForce: Value?) -> Int {
        let number = changed(to: told)
        if let inForce { _ = changed(to: inForce) }
        return number
    }

    /// The agent called a change durable: nothing from before it may come back.
    mutating func durable(_ number: Int) {
        entries.removeAll { $0.number < number }
    }

    /// Nothing has kept the agent for long from writing what is in force: nothing else may come back.
    mutating func settled(_ value: Value) {
        entries = [(next, value)]
        next += 1
    }

    /// Whether a value that a change brought, or a later one, is as this says.
    func hasSince(_ number: Int, _ isThis: (Value) -> Bool) -> Bool {
        entries.contains { $0.number >= number && isThis($0.value) }
    }

    func allows(_ value: Value) -> Bool { entries.contains { $0.value == value } }

    var text: String { words { "\($0)" } }

    func words(_ text: (Value) -> String) -> String { entries.map { text($0.value) }.joined(separator: " or ") }
}
