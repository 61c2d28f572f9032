import AgentControl
import Diagnosing
import Terminal

/// Whether the vehicle judges by the fences that the server has, and the server hears of what the vehicle found. Nothing here
/// keeps a vehicle from being tracked.
enum FenceCheck {
    /// Milliseconds without an answer on a link that stands: the server answers within seconds.
    private static let longWait: Int64 = 600_000

    static func fences(_ facts: Facts) -> Check {
        guard let status = facts.status else { return .notChecked(.fences, "the agent cannot be asked") }
        guard let fences = status.fences?.server else { return .ok(.fences, "no fences of the server") }
        let found = summary(fences, now: status.time)
        guard let (trouble, remedy) = trouble(fences, status) else { return .ok(.fences, found) }
        return .warning(.fences, "\(found); \(trouble)", remedy)
    }

    private static func summary(_ fences: ServerFencesStatus, now: Int64) -> String {
        guard fences.version > 0 else { return "no fences of the server yet" }
        var text = "\(Quantity.count(fences.kept, "fence")) of the server"
        if fences.completeWithin != nil { text += ", only the nearest ones" }
        if let time = fences.changedTime { text += ", changed \(TimeText.relative(time, now: now))" }
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
                        + TimeText.duration(wait),
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
