import AgentControl
import Diagnosing

/// The system clock. Points carry the receiver's time and do not need it; certificates may.
enum ClockCheck {
    /// Milliseconds: 2026-11-21, when this version was made. A clock before it is wrong for certain.
    static let madeAt: Int64 = 1_795_219_200_000
    /// Milliseconds: more than a slow answer explains.
    private static let noticeable: Int64 = 10_000
    private static let day: Int64 = 86_400_000

    static func clock(_ facts: Facts) -> Check {
        let clock = facts.clock
        let keep = Remedy.clock
        var found: [String] = []
        switch clock.isSynchronised {
        case true?: found.append("synchronised")
        case false?: found.append("nobody keeps it synchronised")
        case nil: found.append("nobody says whether it is synchronised")
        }
        if let server = clock.serverDifference { found.append("server \(difference(server))") }
        if let receiver = clock.receiverDifference { found.append("receiver \(difference(receiver))") }
        let text = found.joined(separator: ", ")
        let cause = facts.status?.link.state == .online ? nil : facts.status?.link.lastErrorCause
        if cause == "certificate_not_yet_valid", clock.isSynchronised != true {
            return .failed(.clock, text + "; the server's certificate is not yet valid by it", keep)
        }
        if clock.time < madeAt {
            return .warning(
                .clock, "it says \(TimeText.local(clock.time)), which is before this program was built; \(text)", keep)
        }
        if let dates = facts.status?.gather.dates, dates.kind == .disagreement {
            return .warning(.clock, "\(dates.text); \(text)", dates.remedy)
        }
        if let receiver = clock.receiverDifference, receiver.magnitude > day, clock.isSynchronised == true {
            return .warning(
                .clock, "the receiver's date is wrong: \(text)",
                "Update the receiver's firmware (a week rollover), and gpsd")
        }
        if let server = clock.serverDifference, server.magnitude > noticeable { return .warning(.clock, text, keep) }
        if clock.isSynchronised == false { return .warning(.clock, text, keep) }
        return .ok(.clock, text)
    }

    private static func difference(_ milliseconds: Int64) -> String {
        if milliseconds.magnitude < 1000 { return "agrees" }
        let span = TimeText.duration(Int64(clamping: milliseconds.magnitude))
        return "\(span) \(milliseconds > 0 ? "ahead" : "behind")"
    }
}
