/// One thing that keeps a box from being tracked, or does not.
struct Check: Hashable {
    enum Name: String, Hashable, CaseIterable {
        case agent, configuration, service, gather, settings
        case gpsd, device, fix, clock
        case dns, tcp, tls, certificates, login
        case disk, cache, permissions
    }

    enum Verdict: String, Hashable, CaseIterable {
        case ok
        /// It works, and it will not for long or not well.
        case warning
        /// It keeps the box from being tracked.
        case failed
        /// What it depends on failed, or the caller may not look.
        case notChecked = "not_checked"
    }

    let name: Name
    let verdict: Verdict
    /// What was found, with values; of `notChecked`, why not.
    let found: String
    /// What to do, with the exact command or file; always there when it failed.
    let remedy: String?

    static func ok(_ name: Name, _ found: String) -> Check {
        Check(name: name, verdict: .ok, found: found, remedy: nil)
    }

    static func warning(_ name: Name, _ found: String, _ remedy: String) -> Check {
        Check(name: name, verdict: .warning, found: found, remedy: remedy)
    }

    static func failed(_ name: Name, _ found: String, _ remedy: String) -> Check {
        Check(name: name, verdict: .failed, found: found, remedy: remedy)
    }

    static func notChecked(_ name: Name, _ because: String, _ remedy: String? = nil) -> Check {
        Check(name: name, verdict: .notChecked, found: because, remedy: remedy)
    }
}
