/// Tells one enrolment from the next, in agent.toml.
///
/// The agent remembers what a person told it, such as another name or to stop. An agent that finds another mark than before is
/// another vehicle for the server, and begins anew.
enum EnrollmentMark {
    static func line() -> String {
        let number = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }
        let digits = number.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
        return "# With another number the agent forgets the commands of before, such as saker service stop.\n"
            + "enrollment = \"\(digits)\""
    }
}
