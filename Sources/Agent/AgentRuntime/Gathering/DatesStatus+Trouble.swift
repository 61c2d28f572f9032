internal import AgentControl
internal import AgentLogic
internal import Logging
internal import Systemd
internal import TrackModel

extension DatesStatus {
    init(_ trouble: DateTrouble) {
        let (text, remedy) = ("\(trouble)", trouble.remedy)
        switch trouble {
        case .disagreement(let receiver, let clock, let isClockUsed):
            self.init(
                kind: .disagreement, receiverTime: receiver.milliseconds, clockTime: clock.milliseconds,
                isClockUsed: isClockUsed, text: text, remedy: remedy)
        case .standing(let receiver, let isClockUsed):
            self.init(
                kind: .standing, receiverTime: receiver.milliseconds, isClockUsed: isClockUsed, text: text,
                remedy: remedy)
        case .receivers(let used, _, _):
            self.init(kind: .receivers, receiverTime: used.milliseconds, isClockUsed: false, text: text, remedy: remedy)
        case .missing(let isClockUsed): self.init(kind: .missing, isClockUsed: isClockUsed, text: text, remedy: remedy)
        }
    }
}

extension Logger {
    /// What is wrong with the dates of the receiver now. `unknown`: why nothing is known of them any more.
    func tell(_ trouble: DateTrouble?, unknown: String?) {
        if let trouble {
            warning(
                "The dates of the receiver are doubted",
                metadata: .event(.receiverDates, ["reason": "\(trouble)", "remedy": "\(trouble.remedy)"]))
        } else if let unknown {
            notice(
                "Nothing is known of the receiver's dates any more",
                metadata: .event(.receiverDates, ["reason": "\(unknown)"]))
        } else {
            notice("The dates of the receiver can be right again", metadata: .event(.receiverDates))
        }
    }
}
