/// Decides what follows an answer to a claim, or its absence: another try and when, or the end. Knows no clock and no
/// network; chance comes in as an argument.
struct EnrolmentMachine: Hashable {
    enum Patience: Hashable {
        /// A person waits: gives up after so many failures in a row.
        case failures(Int)
        /// Nobody waits, and nobody would start it again.
        case endless
    }

    enum Action: Hashable {
        /// The same request again, after so many milliseconds. `note`: what a person should know and does not know yet.
        case again(milliseconds: Int64, note: String?)
        case done(IssuedIdentity)
        case stop(CommandFailure)
    }

    private let patience: Patience
    private let waitsForApproval: Bool
    private var failuresInARow = 0
    private var lastNote: String?

    /// Seconds.
    private static let longestWait: Int64 = 300
    private static let approvalWaits: ClosedRange<Int64> = 5...3600
    private static let longestAskedWait: Int64 = 3600
    /// A person, or a unit with a timer, does not sit longer before a server that asks for a wait.
    private static let longestAttendedWait: Int64 = 60

    init(patience: Patience, waitsForApproval: Bool) {
        self.patience = patience
        self.waitsForApproval = waitsForApproval
    }

    /// `chance` is from 0 up to 1, and another one each time: thousands of vehicles must not ask in the same second.
    mutating func answered(_ answer: EnrolmentAnswer, chance: Double) -> Action {
        switch answer {
        case .issued(let identity): return .done(identity)
        case .pending(let device, let entity, let message, let retryAfter):
            failuresInARow = 0
            let name = entity.map { " (\($0))" } ?? ""
            let approve = "saker-server device approve \(device.prefix(8))"
            let text =
                "The server knows this vehicle now as device \(device)\(name). "
                + (message.contains(approve)
                    ? message : "A person must approve it: \(approve)" + (message.isEmpty ? "" : ". \(message)"))
            guard waitsForApproval else {
                return .stop(CommandFailure(.failed, "\(text). Then run the same command again."))
            }
            let range = Self.approvalWaits
            let seconds = min(max(retryAfter ?? 60, range.lowerBound), range.upperBound)
            return .again(milliseconds: seconds * 1000 + Self.part(of: seconds * 250, chance), note: news(text))
        case .refused(let refusal):
            let text = "the server refuses (\(refusal.code)): \(refusal.message)"
            guard !refusal.isFinal else { return .stop(CommandFailure(.failed, text + Self.remedy(refusal.code))) }
            return failed(text, .failed, atLeast: refusal.retryAfter, chance)
        }
    }

    /// No answer, or one that cannot be used. `canPass`: it may be another one later, without anybody's help.
    mutating func failed(_ text: String, code: CommandFailure.Code, canPass: Bool, chance: Double) -> Action {
        guard canPass || patience == .endless else { return .stop(CommandFailure(code, text)) }
        return failed(text, code, atLeast: nil, chance)
    }

    private mutating func failed(
        _ text: String, _ code: CommandFailure.Code, atLeast asked: Int64?, _ chance: Double
    ) -> Action {
        failuresInARow += 1
        if case .failures(let most) = patience {
            if failuresInARow >= most { return .stop(CommandFailure(code, text)) }
            if let asked, asked > Self.longestAttendedWait {
                return .stop(CommandFailure(code, "\(text). Run the same command again in \(asked / 60 + 1) min"))
            }
        }
        let doubled: Int64 = failuresInARow > 9 ? Self.longestWait : min(Self.longestWait, 1 << (failuresInARow - 1))
        let wait = Self.part(of: doubled * 500, chance) + doubled * 500
        let least = min(max(asked ?? 0, 0), Self.longestAskedWait) * 1000
        return .again(milliseconds: max(wait, least + Self.part(of: least / 4, chance)), note: news(text))
    }

    private static func part(of milliseconds: Int64, _ chance: Double) -> Int64 {
        Int64(Double(milliseconds) * min(max(chance, 0), 1))
    }

    /// The text, when it is not what was said last.
    private mutating func news(_ text: String) -> String? {
        defer { lastNote = text }
        return text == lastNote ? nil : text
    }

    private static func remedy(_ code: String) -> String {
        switch code {
        case "token_unknown", "token_ended", "token_revoked", "token_used_up":
            ". Make a new line on the server: saker-server token create"
        case "entity_refused", "entity_taken": ". Give another name with --entity, or none if the server gives names"
        case "key_weak": ". Give --new-key to make another key"
        case "device_unknown": ". Enrol this vehicle again with a new line: sudo saker enroll - --force"
        case "plain_http": ". Something between here and the server decrypts TLS: give the server's own HTTPS port"
        case "device_revoked": ". On the server: saker-server device approve"
        default: ""
        }
    }
}
