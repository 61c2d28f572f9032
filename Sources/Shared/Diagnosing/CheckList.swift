internal import Glibc
package import JSON
internal import NIOCore
internal import NIOPosix
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

/// The result of looking at one thing that can keep a program from its work.
package struct Finding<Subject: CheckSubject>: Hashable, Sendable {
    package typealias Name = Subject

    package enum Verdict: String, Hashable, CaseIterable, Sendable {
        case ok
        /// It works, but not well or not for long.
        case warning
        /// It keeps the program from its work.
        case failed
        /// Something that it depends on failed, or the user may not look.
        case notChecked = "not_checked"
    }

    package let name: Subject
    package let verdict: Verdict
    /// What was found, with values. For `notChecked`, why it was not checked.
    package let found: String
    /// What to do, with the exact command or file. A failed check always has it.
    package let remedy: String?

    package static func ok(_ name: Subject, _ found: String) -> Finding {
        Finding(name: name, verdict: .ok, found: found, remedy: nil)
    }

    package static func warning(_ name: Subject, _ found: String, _ remedy: String) -> Finding {
        Finding(name: name, verdict: .warning, found: found, remedy: remedy)
    }

    package static func failed(_ name: Subject, _ found: String, _ remedy: String) -> Finding {
        Finding(name: name, verdict: .failed, found: found, remedy: remedy)
    }

    package static func notChecked(_ name: Subject, _ because: String, _ remedy: String? = nil) -> Finding {
        Finding(name: name, verdict: .notChecked, found: because, remedy: remedy)
    }

    /// The worst of several: it speaks for all.
    package static func worst(_ checks: [Finding]) -> Finding? {
        [.failed, .warning, .notChecked, .ok].lazy
            .compactMap { (verdict: Verdict) in checks.first { $0.verdict == verdict } }.first
    }
}

/// What a doctor looks at; the raw value is the name that people and programs see.
package protocol CheckSubject: RawRepresentable<String>, Hashable, CaseIterable, Sendable {}

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
