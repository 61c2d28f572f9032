internal import Glibc
package import JSON
internal import NIOCore
internal import NIOPosix
internal import Terminal

/// What a doctor looks at, in the order in which a person repairs things; the raw value is the name that people and programs see.
package protocol CheckSubject: RawRepresentable<String>, Hashable, CaseIterable, Sendable {
    /// The last sentence when no check failed and none was left out.
    static var ending: String { get }
}

/// The checks of a doctor: one of each subject, in their order.
package struct CheckList<Subject: CheckSubject>: Hashable, Sendable {
    package struct Check: Hashable, Sendable {
        package let subject: Subject
        package let finding: Finding
    }

    package let checks: [Check]

    /// Makes each check.
    package init(_ check: (Subject) -> Finding) {
        checks = Subject.allCases.map { Check(subject: $0, finding: check($0)) }
    }

    /// Of a command: 1 when a check failed, else 0.
    package var exitCode: Int32 { count(.failed) > 0 ? 1 : 0 }

    /// Shows the checks to people, in the width of the terminal, or for programs.
    package func show(asJSON: Bool) {
        guard !asJSON else { return Output.print(json: json.description) }
        for line in lines(width: TerminalSize.columns) { Output.print(line) }
    }

    /// A check a line, verdict first; below it, indented, what to do. `width`: columns of the terminal, where sentences go on
    /// below; nil: a line for each.
    package func lines(width: Int? = nil) -> [String] {
        let names = (Subject.allCases.map { $0.rawValue.count }.max() ?? 0) + 2
        let indent = String(repeating: " ", count: 13)
        return checks.flatMap { check in
            let head = check.finding.verdict.word.padded(13) + check.subject.rawValue.padded(names)
            let remedy = check.finding.remedy.map {
                TextFold.lines(TerminalText.safe($0), width: width, after: indent + "-> ")
            }
            return TextFold.lines(TerminalText.safe(check.finding.found), width: width, after: head) + (remedy ?? [])
        } + [""] + TextFold.lines(summary, width: width)
    }

    private var summary: String {
        let counts = Finding.Verdict.allCases.filter { count($0) > 0 }
            .map { "\(count($0)) \($0 == .warning && count($0) > 1 ? "warnings" : $0.word.lowercased())" }
            .joined(separator: ", ")
        if count(.failed) > 0 { return "\(counts). Solve the first problem first: it may cause the others." }
        return count(.notChecked) > 0 ? "\(counts)." : "\(counts). \(Subject.ending)"
    }

    package var json: JSONValue {
        .object([
            "checks": .array(
                checks.map { check in
                    var members: [String: JSONValue] = [
                        "name": .string(check.subject.rawValue), "verdict": .string(check.finding.verdict.rawValue),
                        "found": .string(check.finding.found),
                    ]
                    if let remedy = check.finding.remedy { members["remedy"] = .string(remedy) }
                    return .object(members)
                }),
            "failed": .integer(Int64(count(.failed))), "warnings": .integer(Int64(count(.warning))),
            "not_checked": .integer(Int64(count(.notChecked))),
        ])
    }

    private func count(_ verdict: Finding.Verdict) -> Int { checks.count { $0.finding.verdict == verdict } }
}

extension Finding.Verdict {
    fileprivate var word: String {
        switch self {
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

/// The result of looking at one thing that can keep a program from its work.
package struct Finding: Hashable, Sendable {
    package enum Verdict: String, Hashable, CaseIterable, Sendable {
        case ok
        /// It works, but not well or not for long.
        case warning
        /// It keeps the program from its work.
        case failed
        /// Something that it depends on failed, or the user may not look.
        case notChecked = "not_checked"
    }

    package let verdict: Verdict
    /// What was found, with values. For `notChecked`, why it was not checked.
    package let found: String
    /// What to do, with the exact command or file. A failed check always has it.
    package let remedy: String?

    package static func ok(_ found: String) -> Finding {
        Finding(verdict: .ok, found: found, remedy: nil)
    }

    package static func warning(_ found: String, _ remedy: String) -> Finding {
        Finding(verdict: .warning, found: found, remedy: remedy)
    }

    package static func failed(_ found: String, _ remedy: String) -> Finding {
        Finding(verdict: .failed, found: found, remedy: remedy)
    }

    package static func notChecked(_ because: String, _ remedy: String? = nil) -> Finding {
        Finding(verdict: .notChecked, found: because, remedy: remedy)
    }

    /// One for several: the worst speaks for all, and when all are `ok`, each is named. Nil without any.
    package static func joined(_ findings: [Finding]) -> Finding? {
        guard !findings.isEmpty else { return nil }
        let worst = [.failed, .warning, .notChecked].lazy
            .compactMap { (verdict: Verdict) in findings.first { $0.verdict == verdict } }.first
        return worst ?? .ok(findings.map(\.found).joined(separator: "; "))
    }

    /// Of a certificate's file, by its validity; all times are seconds since 1970. `date`: a time with its preposition. `early`: the
    /// verdict before the certificate is valid.
    package static func validity(
        _ file: String, from: Int64, until: Int64, now: Int64, early: Verdict, date: (Int64) -> String, _ remedy: String
    ) -> Finding {
        if until <= now { return .failed("\(file) ended \(date(until))", remedy) }
        if from > now {
            return Finding(verdict: early, found: "\(file) begins only \(date(from))", remedy: Remedy.lookAtClock)
        }
        let days = (until - now) / 86_400
        return days < soon
            ? .warning("\(file) ends in \(days) days, \(date(until))", remedy)
            : .ok("\(file) lasts until \(date(until))")
    }

    /// Days before the end of a certificate that are time to act.
    private static let soon: Int64 = 30
}

/// What both doctors advise. Each command works when it is typed on a Debian without further packages.
package enum Remedy {
    /// A clock that is wrong, or that nobody keeps. date(1) refuses the letters, so nobody sets an example's time.
    package static let clock =
        "sudo apt install systemd-timesyncd, then: sudo systemctl enable --now systemd-timesyncd. Without a network, with the "
        + "date and time of now: sudo date -s 'YYYY-MM-DD hh:mm'"
    /// What the clock says, for a person to compare.
    package static let lookAtClock = "Is the clock right? date"

    /// Whether a name is found. libc's own lookup, which programs use too; other tools ask other servers.
    package static func lookUp(_ name: String) -> String { "getent hosts \(name)" }

    /// Whether this computer has a way out at all.
    package static let route = "sudo apt install iproute2; ip route"

    /// Which satellites the receiver hears.
    package static let satellites = "sudo apt install gpsd-clients, then: cgps -s"

    /// Whether the receiver sends.
    package static let receiver = "sudo apt install gpsd-clients, then: gpspipe -w -n 10"
    /// The same, as the receiver sends it.
    package static let sentences = "sudo apt install gpsd-clients, then: gpspipe -r -n 20"
}

/// Runs work that may block, with a time limit.
package enum Deadline {
    /// Work that hangs, such as a name lookup, cannot be stopped. Its thread is left behind, and the program ends without it.
    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 8)
        pool.start()
        return pool
    }()

    /// What `work` returns, or nil after so many seconds.
    package static func run<Value: Sendable>(
        seconds: Int64, _ work: @escaping @Sendable () -> Value
    ) async -> Value? {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let promise = loop.makePromise(of: Value?.self)
        let end = loop.scheduleTask(in: .seconds(seconds)) { promise.succeed(nil) }
        pool.submit { state in
            let value: Value? = state == .active ? work() : nil
            loop.execute {
                end.cancel()
                promise.succeed(value)
            }
        }
        return (try? await promise.futureResult.get()) ?? nil
    }
}

/// The file system of a directory, in bytes.
package struct DiskSpace {
    /// For programs without privileges.
    package let free: Int64
    package let total: Int64
    package let isReadOnly: Bool

    /// Nil when the system does not say.
    package init?(of directory: String) {
        var facts = statvfs()
        guard statvfs(directory, &facts) == 0 else { return nil }
        let block = UInt64(facts.f_frsize)
        free = Int64(clamping: UInt64(facts.f_bavail).multipliedReportingOverflow(by: block).partialValue)
        total = Int64(clamping: UInt64(facts.f_blocks).multipliedReportingOverflow(by: block).partialValue)
        isReadOnly = facts.f_flag & UInt(ST_RDONLY) != 0
    }
}
