import JSON

/// Makes every check on the same facts, in the order in which a person repairs things.
struct Diagnosis: Hashable {
    let checks: [Check]
    /// The agent could not be asked.
    private let isAgentSilent: Bool

    init(_ facts: Facts) {
        checks = [
            AgentChecks.agent(facts), ConfigurationCheck.configuration(facts),
            AgentChecks.service(facts), AgentChecks.gather(facts), AgentChecks.settings(facts),
            ReceiverChecks.gpsd(facts), ReceiverChecks.device(facts), ReceiverChecks.fix(facts),
            ClockCheck.clock(facts),
            ServerChecks.dns(facts), ServerChecks.tcp(facts), ServerChecks.tls(facts),
            CertificateCheck.certificates(facts), ServerChecks.login(facts),
            StorageChecks.disk(facts), StorageChecks.cache(facts), FenceCheck.fences(facts),
            StorageChecks.permissions(facts),
        ]
        isAgentSilent = facts.status == nil
    }

    /// 3 when the agent could not be asked, else 1 when something failed, else 0.
    var exitCode: Int32 { isAgentSilent ? 3 : count(.failed) > 0 ? 1 : 0 }

    private func count(_ verdict: Check.Verdict) -> Int { checks.count { $0.verdict == verdict } }

    /// A check a line, verdict first; below it, indented, what to do.
    var lines: [String] {
        let indent = String(repeating: " ", count: 13 + 16)
        return checks.flatMap { check in
            let head = Self.word(check.verdict).padded(13) + check.name.rawValue.padded(16) + check.found.printable
            return [head] + (check.remedy.map { [indent + "-> " + $0.printable] } ?? [])
        } + ["", summary]
    }

    var summary: String {
        let counts = Check.Verdict.allCases.filter { count($0) > 0 }
            .map { "\(count($0)) \($0 == .warning && count($0) > 1 ? "warnings" : Self.word($0).lowercased())" }
            .joined(separator: ", ")
        if count(.failed) > 0 { return "\(counts). Solve the first problem first: it may cause the others." }
        return count(.notChecked) > 0 ? "\(counts)." : "\(counts). Nothing keeps this vehicle from being tracked."
    }

    var json: JSONValue {
        .object([
            "checks": .array(
                checks.map { check in
                    var members: [String: JSONValue] = [
                        "name": .string(check.name.rawValue), "verdict": .string(check.verdict.rawValue),
                        "found": .string(check.found),
                    ]
                    if let remedy = check.remedy { members["remedy"] = .string(remedy) }
                    return .object(members)
                }),
            "failed": .integer(Int64(count(.failed))), "warnings": .integer(Int64(count(.warning))),
            "not_checked": .integer(Int64(count(.notChecked))),
        ])
    }

    private static func word(_ verdict: Check.Verdict) -> String {
        switch verdict {
        case .ok: "ok"
        case .warning: "warning"
        case .failed: "FAILED"
        case .notChecked: "not checked"
        }
    }
}

extension String {
    /// With spaces behind it, to so many ASCII columns.
    fileprivate func padded(_ columns: Int) -> String {
        self + String(repeating: " ", count: max(1, columns - count))
    }
}
