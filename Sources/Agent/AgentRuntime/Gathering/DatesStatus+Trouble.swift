internal import AgentControl
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
