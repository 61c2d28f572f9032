import AgentControl
import Diagnosing
import Terminal

/// The way to the server: name, port, TLS, login.
enum ServerChecks {
    private static let resolving: Set<String> = ["name_resolution"]
    private static let connecting: Set<String> = ["connect_timeout", "connect_refused", "network_unreachable"]
    private static let login: Set<String> = [
        "key_refused", "service_unknown", "parameter_refused", "login_timeout", "revoked", "cloned", "server_unable",
    ]

    /// The agent makes no connection at all.
    private static let unusable: Set<String> = ["credentials_unusable"]

    private static func isOnline(_ facts: Facts) -> Bool { facts.status?.link.state == .online }

    /// What the agent's last try ended with; nil while it is online.
    private static func cause(_ facts: Facts) -> String? {
        isOnline(facts) ? nil : facts.status?.link.lastErrorCause
    }

    static func dns(_ facts: Facts) -> Finding {
        guard let server = facts.server else {
            return .notChecked("neither the agent nor a file names the server")
        }
        let remedy =
            "Is host in [server] of \(facts.configurationPath) right? Does this find it: \(Remedy.lookUp(server.host))? Is there a "
            + "way out: \(Remedy.route)?"
        let trouble: String
        switch server.resolution {
        case .addresses(let addresses):
            // The first few say enough.
            let shown = addresses.prefix(4).joined(separator: ", ")
            return .ok(addresses == [server.host] ? "\(server.host) is an address" : "\(server.host) is \(shown)")
        case .failed(let reason): trouble = "\(server.host) is not found: \(reason)"
        case .timeout: trouble = "\(server.host): no name server answers"
        }
        return isOnline(facts)
            ? .warning("\(trouble); the agent's connection stands", remedy) : .failed(trouble, remedy)
    }

    static func tcp(_ facts: Facts) -> Finding {
        guard let server = facts.server else { return .notChecked("which server is not known") }
        guard let connection = server.connection else { return .notChecked("the server's name is not found") }
        let reason: String
        let remedy: String
        switch connection {
        case .made(let time): return .ok("\(server.place) connects in \(time) ms")
        case .refused(let text):
            reason = text
            remedy =
                "On the server: sudo systemctl status saker-server. Is port in [server] of \(facts.configurationPath) its "
                + "device port?"
        case .failed(let text):
            reason = text
            remedy =
                "Is there a way out: \(Remedy.route)? Do firewall and mobile network let TCP port \(server.port) through?"
        }
        return isOnline(facts)
            ? .warning("\(server.place): \(reason); the agent's own connection stands", remedy)
            : .failed("\(server.place): \(reason)", remedy)
    }

    static func tls(_ facts: Facts) -> Finding {
        guard let link = facts.status?.link else { return .notChecked("only the agent can tell") }
        if link.state == .online {
            return .ok("the server's certificate is accepted" + (link.encryption.map { ", \($0)" } ?? ""))
        }
        if let cause = link.lastErrorCause, unusable.contains(cause) {
            return .failed(reason(link), tlsRemedy(cause, facts))
        }
        if let obstacle = obstacle(facts) { return .notChecked(obstacle) }
        if let cause = link.lastErrorCause {
            if login.contains(cause) { return .ok("the server's certificate is accepted") }
            if resolving.contains(cause) || connecting.contains(cause) {
                return .notChecked("the agent's last try did not reach TLS: \(reason(link))", "saker reconnect")
            }
            return .failed(reason(link), tlsRemedy(cause, facts))
        }
        return .notChecked(undecided(link), "saker reconnect; then again: saker doctor")
    }

    static func login(_ facts: Facts) -> Finding {
        guard let status = facts.status else { return .notChecked("only the agent can tell") }
        let link = status.link
        if link.state == .online {
            let entity = status.entity.map { "as \($0)" } ?? "accepted"
            return .ok(entity + (link.session.map { ", session \($0)" } ?? ""))
        }
        if let obstacle = obstacle(facts) { return .notChecked(obstacle) }
        switch link.lastErrorCause {
        case "key_refused":
            return .failed(
                "the server refuses the access key or the application code: \(reason(link))",
                "On the server: saker-server service list, or a new key: saker-server service rotate-key. Put the key "
                    + "into \(credential(facts)), or take a new line: sudo saker enroll - --force. Then: sudo systemctl "
                    + "restart sakerd")
        case "revoked":
            return .failed(
                "the operator has shut out this vehicle: \(reason(link))",
                "The vehicle keeps its points. If this is wrong, on the server: saker-server device list, then saker-server "
                    + "device approve. The agent tries again once an hour, and at once after: sudo systemctl reload sakerd"
            )
        case "cloned":
            return .failed(
                "another computer has this vehicle's certificate, and both are refused: \(reason(link))",
                "Both keep their points. On the copy: sudo saker image prepare, then sudo saker enroll with another token. Then, on "
                    + "the server: saker-server device approve. This vehicle goes on by itself half an hour after the other one "
                    + "was switched off"
            )
        case "server_unable":
            return .failed(
                reason(link),
                "The vehicle keeps its points. On the server: sudo -u saker-server saker-server doctor. Then: saker reconnect"
            )
        case "service_unknown":
            return .failed(
                "the server does not know the service: \(reason(link))",
                "The vehicle keeps its points. On the server: saker-server service list. Set id in [service] of \(facts.configurationPath), then: "
                    + "sudo systemctl restart sakerd")
        case "parameter_refused":
            return .failed(
                "the server refuses a value of the login: \(reason(link))",
                "Set entity in [service] of \(facts.configurationPath), then: sudo systemctl restart sakerd")
        case "login_timeout":
            return .failed(
                reason(link), "On the server: journalctl -u saker-server -n 50. The agent tries again by itself"
            )
        case let cause? where resolving.contains(cause) || connecting.contains(cause):
            return .notChecked("the agent's last try came not so far", "saker reconnect")
        case _?: return .notChecked("TLS failed")
        case nil:
            guard link.state == .waiting, link.lastError != nil else { return .notChecked(undecided(link)) }
            return .failed(
                reason(link),
                "Try now: saker reconnect. If it stays: journalctl -u sakerd -n 50, and the server's log")
        }
    }

    /// Why TLS and login cannot be checked at all.
    private static func obstacle(_ facts: Facts) -> String? {
        if facts.status?.link.state == .closed { return "the service is stopped" }
        switch facts.server?.connection {
        case .refused, .failed: return "the server's port does not answer"
        case nil where facts.server != nil: return "the server's name is not found"
        case .made, nil: return nil
        }
    }

    private static func reason(_ link: LinkStatus) -> String { link.lastError ?? "no reason given" }

    private static func undecided(_ link: LinkStatus) -> String {
        let state = "the agent's connection is \(link.state.rawValue)"
        return link.lastError.map { "\(state), after: \($0)" } ?? state
    }

    private static func credential(_ facts: Facts) -> String {
        facts.configuration.places?.credentials.first ?? "/etc/saker/credentials/ak"
    }

    private static func tlsRemedy(_ cause: String, _ facts: Facts) -> String {
        let file = facts.configurationPath
        let reload = "then: sudo systemctl reload sakerd"
        let authority = facts.configuration.places?.authorityFile
        let place = facts.server?.place ?? "the server"
        switch cause {
        case "certificate_untrusted":
            return
                "If that signer is the server's own authority, put it (on the server: ca.pem of its init directory) into "
                + (authority ?? "a file, name it as ca_file in [server] of \(file)")
                + ", \(reload). If not, a proxy on the way "
                + "decrypts TLS and answers in the server's place: let \(place) through the proxy undecrypted, or use another network"
        case "foreign_server":
            return
                "Is this a network with a sign-in page? Sign in, or use another network. Else: do host and port in [server] of "
                + "\(file) lead to the server?"
        case "certificate_wrong_name":
            return "Set server_name in [server] of \(file) to a name that the certificate holds, \(reload)"
        case "certificate_expired":
            return
                "On the server: sudo -u saker-server saker-server certificate renew. Is this vehicle's clock right? date"
        case "certificate_not_yet_valid": return "Set the clock: \(Remedy.clock)"
        case "pin_mismatch":
            return
                "If the server's operator confirms the new key: set pinned_key in [server] of \(file), \(reload). If not, a proxy on the way may answer in the server's place: use another network"
        case "credentials_unusable":
            return
                "Put the file right that is named here, or its key in [server] of \(file): the agent reads certificates and keys "
                + "again by itself. If you change a key, \(reload)"
        case "client_certificate_expired":
            return "On the server: is its clock right? date. If this vehicle's certificate has ended: sudo saker renew"
        case "client_certificate_refused":
            return
                "Set client_certificate and client_key in [server] of \(file) to what the server's authority signed, "
                + reload
        case "not_tls": return "Set port in [server] of \(file) to the server's device port (7443), \(reload)"
        case "plain_http":
            return
                "Set port in [server] of \(file) to the server's device port (7443), not to its web port, \(reload). Does a proxy "
                + "answer in the server's place? Let \(place) through the proxy, or use another network"
        case "sign_in_page":
            return
                "Sign in to this network with a browser on it, or use another network; the agent tries again by itself"
        case "alpn_mismatch":
            return
                "Set port in [server] of \(file) to the server's device port (7443), not to its web port, \(reload). A proxy that "
                + "decrypts TLS and speaks HTTP? Let \(place) through the proxy undecrypted"
        case "handshake_cut":
            return
                "Does a firewall or proxy on the way forbid TLS to \(place)? Try another network. On the server: journalctl -u "
                + "saker-server -n 50 (is it full, connections in [device]?). Then: saker reconnect"
        case "handshake_timeout":
            return
                "Does a firewall or proxy on the way hold TLS to \(place) back? Try another network, or a smaller MTU of the network "
                + "device (1280). On the server: does it hang? sudo systemctl status saker-server. Then: saker "
                + "reconnect"
        case "protocol_version":
            return "Update the server, or set minimum_tls = \"1.2\" in [server] of \(file), \(reload)"
        default:
            return "Does something on the way hold TLS up? On the server: journalctl -u saker-server -n 50. "
                + "Then: saker reconnect"
        }
    }
}

/// Whether the vehicle judges by the fences that the server has, and the server hears of what the vehicle found. Nothing here
/// keeps a vehicle from being tracked.
enum FenceCheck {
    /// Milliseconds without an answer on a link that stands: the server answers within seconds.
    private static let longWait: Int64 = 600_000

    static func fences(_ facts: Facts) -> Finding {
        guard let status = facts.status else { return .notChecked("the agent cannot be asked") }
        guard let fences = status.fences?.server else { return .ok("no fences of the server") }
        let found = summary(fences, now: status.time)
        guard let (trouble, remedy) = trouble(fences, status) else { return .ok(found) }
        return .warning("\(found); \(trouble)", remedy)
    }

    private static func summary(_ fences: ServerFencesStatus, now: Int64) -> String {
        guard fences.version > 0 else { return "no fences of the server yet" }
        var text = "\(Quantity.count(fences.kept, "fence")) of the server"
        if fences.completeWithin != nil { text += ", only the nearest ones" }
        if let time = fences.changedTime { text += ", changed \(DurationText.relative(time, now: now))" }
        return text
    }

    /// The first problem, and what to do.
    private static func trouble(_ fences: ServerFencesStatus, _ status: AgentStatus) -> (String, String)? {
        let isOnline = status.link.state == .online
        if let error = fences.lastError {
            return (
                "the server's newest update is not in use: \(error)",
                "saker reconnect asks for all fences. Does it happen again? saker-server fence list shows the service's fences"
            )
        }
        if isOnline, fences.sent == false, fences.version > 0 {
            return (
                "the server of this connection sends no fences, so these may be outdated",
                "Update saker-server. Until then its fences are judged at the server alone"
            )
        }
        if let error = fences.fileError {
            return (
                "they could not be read when the agent started, and the server has not sent them again: \(error)",
                isOnline ? "saker reconnect" : "Bring the vehicle online (see the checks above)"
            )
        }
        if fences.remembered.state == .failing {
            return (
                "they are not on the disk, and a restart goes on with an earlier set: "
                    + (fences.remembered.lastError ?? "the disk refuses writes"),
                "See the check disk. Errors of the medium: sudo dmesg | grep -i error"
            )
        }
        if isOnline, fences.sent == true, fences.reportsWaiting > 0, let since = fences.reportsWaitingSince {
            let wait = status.time &- max(since, status.link.since ?? since)
            if wait >= longWait {
                return (
                    "\(Quantity.count(fences.reportsWaiting, "report")) of alarms without an answer for "
                        + DurationText.text(wait),
                    "On the server: journalctl -u saker-server. saker reconnect sends the reports again"
                )
            }
        }
        if fences.unconfirmed > 0 {
            return (
                "the server did not confirm \(Quantity.count(fences.unconfirmed, "early alarm"))",
                "Does another vehicle use the same entity? saker alarms shows the alarms; the server's history counts"
            )
        }
        if let count = fences.notJudged, count > 0 {
            let reason = fences.notJudgedReasons?.first.map { ": \($0)" } ?? ""
            return (
                "\(Quantity.count(count)) of them judged by the server alone\(reason)",
                "saker fence list --server names them. The vehicle hears of their alarms only while it is online"
            )
        }
        return nil
    }
}
