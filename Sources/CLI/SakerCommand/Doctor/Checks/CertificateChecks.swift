import AgentControl
import Diagnosing
import Terminal

/// The certificate files of this vehicle and how long they last.
enum CertificateCheck {
    static func certificates(_ facts: Facts) -> Finding {
        guard let places = facts.configuration.places else {
            return .notChecked("the configuration that names them was not read")
        }
        let now = facts.clock.time / 1000
        return .joined(facts.certificates.map { judge($0, places, now) })
            ?? .ok("no certificate file is configured; the agent trusts the system's authorities")
    }

    private static func judge(_ file: ClientCertificateFacts, _ places: ConfiguredPlaces, _ now: Int64) -> Finding {
        let remedy =
            file.path == places.clientCertificateFile
            ? "sudo saker renew; or put a new certificate for this vehicle's key into \(file.path): the agent takes it by itself"
            : "Put the server's authority (on the server: ca.pem of its init directory) into \(file.path): the agent takes it "
                + "by itself"
        switch file.content {
        case .forbidden:
            return .notChecked("this user may not read \(file.path)", "sudo saker doctor")
        case .unreadable(let reason): return .failed("\(file.path): \(reason)", remedy)
        case .validity(let from, let until):
            // The clock of a vehicle may be wrong until it has a fix.
            return .validity(
                file.path, from: from, until: until, now: now, early: .warning,
                date: { "at \(LocalTime.text($0.multipliedReportingOverflow(by: 1000).partialValue))" }, remedy)
        }
    }
}

/// Whether this vehicle can go on being the device that it is.
enum IdentityCheck {
    static func identity(_ facts: Facts) -> Finding {
        guard facts.configuration.places != nil else {
            return .notChecked("the configuration was not read")
        }
        guard let identity = facts.identity else {
            return .warning(
                "this vehicle has no certificate of its own and logs in with an access key: whoever has the key can log in as any "
                    + "vehicle of the service",
                "On the server: saker-server token create. Here, with its line: sudo saker enroll - --force")
        }
        let isOther = identity.isOnAnotherComputer == true
        let name = identity.device.map { "device \($0.prefix(8))" } ?? "this vehicle's certificate"
        if isOther || facts.status?.isOnAnotherComputer == true {
            let what = isOther ? "was claimed for another computer" : "was in another computer when the agent ran last"
            return .warning(
                "\(name) \(what): this disk is a copy, or its board was replaced. The server refuses two copies that run at the same "
                    + "time",
                "Is it a copy? Then: sudo saker image prepare, and enrol again. Was the board replaced? Then: sudo saker enroll - "
                    + "--force")
        }
        switch identity.key {
        case .hidden: return .notChecked("this user may not read the key of \(name)", "sudo saker doctor")
        case .unusable(let reason):
            return .failed(
                "the key of \(name) cannot be used: \(reason)",
                "Put the key back, or make another: sudo saker enroll - --force --new-key")
        case .foreign:
            return .failed(
                "the key of \(name) is that of another certificate",
                "Put the right key back, or enrol again: sudo saker enroll - --force")
        case .fits: return renewal(identity, name, now: facts.clock.time / 1000)
        }
    }

    private static func renewal(_ identity: IdentityFacts, _ name: String, now: Int64) -> Finding {
        guard let plan = identity.plan else {
            return .notChecked("the certificate of \(name) cannot be read", "See the check certificates")
        }
        guard identity.hasWebAddress else {
            return .warning(
                "\(name) is not renewed by itself: its configuration names no web_address",
                "Write web_address = \"https://…\" into [server] of agent.toml: the address of the server's HTTPS listener"
            )
        }
        let remedy =
            "sudo saker renew. See why it was not renewed by itself: systemctl status saker-renew.timer saker-renew"
        switch plan.state(at: now) {
        case .early(let due):
            return .ok("\(name) is renewed from \(date(due)) on, and has its key")
        case .due:
            // The timer looks once an hour. A day without success is worth a look.
            return now - plan.due < 86_400
                ? .ok("\(name) is due for renewal since \(date(plan.due)), and has its key")
                : .warning(
                    "\(name) is due for renewal since \(date(plan.due)); it ends at \(date(plan.until))",
                    remedy)
        case .ended(let days) where days <= RenewalPlan.graceDays:
            return .failed(
                "\(name) ended \(days) days ago; the server renews it for \(RenewalPlan.graceDays) days", remedy)
        case .ended(let days):
            return .failed(
                "\(name) ended \(days) days ago, which is too long for a renewal",
                "On the server: saker-server device forget. Here: sudo saker enroll - --force --new-key")
        }
    }

    private static func date(_ seconds: Int64) -> String {
        LocalTime.text(seconds.multipliedReportingOverflow(by: 1000).partialValue)
    }
}
