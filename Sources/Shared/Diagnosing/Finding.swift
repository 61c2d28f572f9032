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
