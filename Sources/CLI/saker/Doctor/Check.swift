/// The result of looking at one thing that can keep a vehicle from being tracked.
struct Check: Hashable {
    enum Name: String, Hashable, CaseIterable {
        case agent, configuration, service, gather, settings
        case gpsd, device, fix, clock
        case dns, tcp, tls, certificates, login
        case disk, cache, fences, permissions
    }

    enum Verdict: String, Hashable, CaseIterable {
        case ok
        /// It works, but not well or not for long.
        case warning
        /// It keeps the vehicle from being tracked.
        case failed
        /// Something that it depends on failed, or the user may not look.
        case notChecked = "not_checked"
    }

    let name: Name
    let verdict: Verdict
    /// What was found, with values. For `notChecked`, why it was not checked.
    let found: String
    /// What to do, with the exact command or file. A failed check always has it.
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
