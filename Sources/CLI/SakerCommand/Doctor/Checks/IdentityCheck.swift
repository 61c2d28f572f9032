import AgentControl
import Diagnosing

/// Whether this vehicle can go on being the device that it is.
enum IdentityCheck {
    static func identity(_ facts: Facts) -> Check {
        guard facts.configuration.places != nil else {
            return .notChecked(.identity, "the configuration was not read")
        }
        guard let identity = facts.identity else {
            return .warning(
                .identity,
                "this vehicle has no certificate of its own and logs in with an access key: whoever has the key can log in as any "
                    + "vehicle of the service",
                "On the server: saker-server token create. Here, with its line: sudo saker enroll - --force")
        }
        let isOther = identity.isOnAnotherComputer == true
        let name = identity.device.map { "device \($0.prefix(8))" } ?? "this vehicle's certificate"
        if isOther || facts.status?.isOnAnotherComputer == true {
            let what = isOther ? "was claimed for another computer" : "was in another computer when the agent ran last"
            return .warning(
                .identity,
                "\(name) \(what): this disk is a copy, or its board was replaced. The server refuses two copies that run at the same "
                    + "time",
                "Is it a copy? Then: sudo saker image prepare, and enrol again. Was the board replaced? Then: sudo saker enroll - "
                    + "--force")
        }
        switch identity.key {
        case .hidden: return .notChecked(.identity, "this user may not read the key of \(name)", "sudo saker doctor")
        case .unusable(let reason):
            return .failed(
                .identity, "the key of \(name) cannot be used: \(reason)",
                "Put the key back, or make another: sudo saker enroll - --force --new-key")
        case .foreign:
            return .failed(
                .identity, "the key of \(name) is that of another certificate",
                "Put the right key back, or enrol again: sudo saker enroll - --force")
        case .fits: return renewal(identity, name, now: facts.clock.time / 1000)
        }
    }

    private static func renewal(_ identity: IdentityFacts, _ name: String, now: Int64) -> Check {
        guard let plan = identity.plan else {
            return .notChecked(.identity, "the certificate of \(name) cannot be read", "See the check certificates")
        }
        guard identity.hasWebAddress else {
            return .warning(
                .identity, "\(name) is not renewed by itself: its configuration names no web_address",
                "Write web_address = \"https://…\" into [server] of agent.toml: the address of the server's HTTPS listener"
            )
        }
        let remedy =
            "sudo saker renew. See why it was not renewed by itself: systemctl status saker-renew.timer saker-renew"
        switch plan.state(at: now) {
        case .early(let due):
            return .ok(.identity, "\(name) is renewed from \(date(due)) on, and has its key")
        case .due:
            // The timer looks once an hour. A day without success is worth a look.
            return now - plan.due < 86_400
                ? .ok(.identity, "\(name) is due for renewal since \(date(plan.due)), and has its key")
                : .warning(
                    .identity, "\(name) is due for renewal since \(date(plan.due)); it ends at \(date(plan.until))",
                    remedy)
        case .ended(let days) where days <= RenewalPlan.graceDays:
            return .failed(
                .identity,
                "\(name) ended \(days) days ago; the server renews it for \(RenewalPlan.graceDays) days", remedy)
        case .ended(let days):
            return .failed(
                .identity, "\(name) ended \(days) days ago, which is too long for a renewal",
                "On the server: saker-server device forget. Here: sudo saker enroll - --force --new-key")
        }
    }

    private static func date(_ seconds: Int64) -> String {
        TimeText.local(seconds.multipliedReportingOverflow(by: 1000).partialValue)
    }
}
