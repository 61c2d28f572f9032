package import JSON
internal import Terminal

/// The checks of a doctor, in the order in which a person repairs things.
package struct CheckList<Subject: CheckSubject>: Hashable, Sendable {
    package let checks: [Finding<Subject>]

    package init(_ checks: [Finding<Subject>]) {
        self.checks = checks
    }

    package var hasFailure: Bool { count(.failed) > 0 }

    private func count(_ verdict: Finding<Subject>.Verdict) -> Int { checks.count { $0.verdict == verdict } }

    /// A check a line, verdict first; below it, indented, what to do. `ending` is the last sentence when nothing failed.
    /// `width`: columns of the terminal, where sentences go on below; nil: a line for each.
    package func lines(ending: String, width: Int? = nil) -> [String] {
        let names = (Subject.allCases.map { $0.rawValue.count }.max() ?? 0) + 2
        let indent = String(repeating: " ", count: 13)
        return checks.flatMap { check in
            let head = Self.word(check.verdict).padded(13) + check.name.rawValue.padded(names)
            let remedy = check.remedy.map {
                TextFold.lines(TerminalText.safe($0), width: width, after: indent + "-> ")
            }
            return TextFold.lines(TerminalText.safe(check.found), width: width, after: head) + (remedy ?? [])
        } + [""] + TextFold.lines(summary(ending: ending), width: width)
    }

    private func summary(ending: String) -> String {
        let counts = Finding<Subject>.Verdict.allCases.filter { count($0) > 0 }
            .map { "\(count($0)) \($0 == .warning && count($0) > 1 ? "warnings" : Self.word($0).lowercased())" }
            .joined(separator: ", ")
        if hasFailure { return "\(counts). Solve the first problem first: it may cause the others." }
        return count(.notChecked) > 0 ? "\(counts)." : "\(counts). \(ending)"
    }

    package var json: JSONValue {
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

    private static func word(_ verdict: Finding<Subject>.Verdict) -> String {
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
