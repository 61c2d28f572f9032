internal import AgentLogic
internal import TrackModel

/// Decides what the feed does next. Knows no socket and no clock.
struct FeedMachine {
    enum Action: Hashable {
        /// Try to connect; the outcome comes back as `connected` or `failed`.
        case connect
        case send(String)
        case close
        case deliver(FeedEvent)
    }

    /// Why a connection could not be made or was lost.
    enum Failure: Hashable {
        case unreachable(String)
        case permissionDenied(String)
    }

    private enum Phase {
        /// To `connecting`.
        case idle
        /// To `greeting` or `waiting`.
        case connecting
        /// To `connecting`, at that time or when woken.
        case waiting(until: MonotonicTime)
        /// Connected, but not yet sure that gpsd answers. To `watching` or `waiting`.
        case greeting(until: MonotonicTime)
        /// To `waiting`.
        case watching
        case stopped
    }

    private let configuration: FeedConfiguration
    private var timing: FeedTiming { configuration.timing }
    private var phase = Phase.idle
    private var state = FeedState.stopped
    private var failures = 0
    private var rejectedInARow = 0
    /// When gpsd sent something last, and until when an answer is due if the feed has asked for one.
    private var heard = MonotonicTime.distantPast
    private var answerDue: MonotonicTime?
    /// When the last report came; nil after the silence that follows it was told.
    private var reportBeforeSilence: MonotonicTime?
    private var lastReport = MonotonicTime.distantPast
    private var receivers = ReceiverList()
    /// When a receiver said anything last, or gpsd opened one, or the connection began; and whether gpsd was asked since.
    private var receiverHeard = MonotonicTime.distantPast
    private var hasAskedForReceivers = false
    /// When a receiver said anything last; nil: nothing since the connection began, or since gpsd opened or lost a receiver.
    private var lastWord: MonotonicTime?
    /// The pauses before the last words of receivers on this connection, in milliseconds.
    private var pauses: [Int64] = []
    private(set) var counters = FeedCounters()

    /// So many rejected lines end the connection, because another program than gpsd answers.
    static let mostRejected = 20
    /// So many pauses are remembered: some minutes of a receiver that speaks once a minute, so that one long pause is forgotten.
    private static let mostPauses = 32
    /// Milliseconds without a word after which every receiver counts as away.
    static let longestMute: Int64 = 900_000

    init(configuration: FeedConfiguration) {
        self.configuration = configuration
    }

    /// When the shell must call `timePassed` if nothing happens before; nil for never.
    var deadline: MonotonicTime? {
        switch phase {
        case .idle, .connecting, .stopped: return nil
        case .waiting(let until), .greeting(let until): return until
        case .watching:
            var due = answerDue ?? heard + timing.quiet
            if let report = reportBeforeSilence { due = min(due, report + timing.silence) }
            if state == .fix { due = min(due, lastReport + timing.stale) }
            if isWithReceiver {
                due = min(due, receiverHeard + (hasAskedForReceivers ? mute : min(timing.ask, mute)))
            }
            return due
        }
    }

    mutating func start() -> [Action] {
        guard case .idle = phase else { return [] }
        phase = .connecting
        return become(.connecting) + [.connect]
    }

    mutating func connected(at now: MonotonicTime) -> [Action] {
        guard case .connecting = phase else { return [.close] }
        phase = .greeting(until: now + timing.greeting)
        heard = now
        rejectedInARow = 0
        return []
    }

    /// The attempt to connect failed, or the connection ended. `roll` is a random number in 0 ..< 1 that spreads the
    /// next attempt.
    mutating func failed(_ failure: Failure, roll: Double, at now: MonotonicTime) -> [Action] {
        if case .stopped = phase { return [] }
        let longest = min(timing.longestBackoff, timing.firstBackoff << Int64(min(failures, 20)))
        failures += 1
        // Half of the wait is fixed, so that waits grow. Half is random, so that many agents do not connect at the same
        // moment.
        let wait = longest / 2 + Int64(roll * Double(longest - longest / 2))
        phase = .waiting(until: now + wait)
        answerDue = nil
        receivers = ReceiverList()
        let reason: FeedState =
            switch failure {
            case .unreachable(let text): .unreachable(reason: text)
            case .permissionDenied(let text): .permissionDenied(reason: text)
            }
        return [.close] + endRun() + become(reason)
    }

    /// Ends the wait for the next attempt; does nothing at other times.
    mutating func woken() -> [Action] {
        guard case .waiting = phase else { return [] }
        failures = 0
        phase = .connecting
        return [.connect]
    }

    mutating func stop() -> [Action] {
        if case .stopped = phase { return [] }
        phase = .stopped
        return [.close] + endRun() + become(.stopped)
    }

    mutating func timePassed(roll: Double, at now: MonotonicTime) -> [Action] {
        guard let deadline, now >= deadline else { return [] }
        switch phase {
        case .idle, .connecting, .stopped: return []
        case .waiting:
            phase = .connecting
            return [.connect]
        case .greeting:
            return failed(.unreachable("connected, but gpsd's greeting did not come"), roll: roll, at: now)
        case .watching:
            return watchTimePassed(roll: roll, at: now)
        }
    }

    private mutating func watchTimePassed(roll: Double, at now: MonotonicTime) -> [Action] {
        if let answerDue {
            if now >= answerDue {
                return failed(
                    .unreachable("gpsd said nothing for \((now - heard) / 1000) s and does not answer"), roll: roll,
                    at: now)
            }
        } else if now >= heard + timing.quiet {
            answerDue = now + timing.answer
            // Without a receiver, the watch command also makes gpsd look for the receiver again.
            return [.send(isWithoutDevice ? configuration.watchCommand : "?VERSION;\n")] + reportTimePassed(at: now)
        }
        return reportTimePassed(at: now)
    }

    private mutating func reportTimePassed(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if let report = reportBeforeSilence, now >= report + timing.silence { actions += endRun() }
        if state == .fix, now >= lastReport + timing.stale { actions += become(.noFix) }
        guard isWithReceiver else { return actions }
        if !hasAskedForReceivers, now >= receiverHeard + timing.ask {
            hasAskedForReceivers = true
            // A gpsd that has lost its receiver may say nothing of it.
            actions.append(.send("?DEVICES;\n"))
        }
        if isMute(at: now) { actions += endRun() + become(.noDevice(reason: muteReason)) }
        return actions
    }

    /// A line came that is not a message of gpsd.
    mutating func rejected(roll: Double, at now: MonotonicTime) -> [Action] {
        counters.rejectedLines &+= 1
        rejectedInARow += 1
        switch phase {
        case .idle, .connecting, .waiting, .stopped: return []
        case .greeting:
            return failed(.unreachable("what answers there does not greet as gpsd does"), roll: roll, at: now)
        case .watching:
            guard rejectedInARow >= Self.mostRejected else { return [] }
            return failed(
                .unreachable("\(Self.mostRejected) lines in a row were none of gpsd's messages"), roll: roll, at: now)
        }
    }

    mutating func received(_ message: GPSDMessage, roll: Double, at now: MonotonicTime) -> [Action] {
        rejectedInARow = 0
        heard = now
        answerDue = nil
        switch phase {
        case .idle, .connecting, .waiting, .stopped: return []
        case .greeting:
            guard case .version = message else { return rejected(roll: roll, at: now) }
            counters.connections &+= 1
            phase = .watching
            (lastWord, pauses) = (nil, [])
            heardReceiver(at: now)
            return [.send(configuration.watchCommand)]
        case .watching: break
        }
        switch message {
        case .version, .other:
            return []
        case .devices(let devices, let isWhole):
            failures = 0
            receivers.replace(with: devices, isWhole: isWhole)
            return judgeReceivers(at: now)
        case .device(let device):
            if device.isActive, !receivers.isActive(device.path) {
                // How long it was closed says nothing of how often it speaks.
                lastWord = nil
                heardReceiver(at: now)
            }
            receivers.update(device)
            return judgeReceivers(at: now)
        case .sky(let device, let used):
            if let used { receivers.sawSatellites(used, of: device, at: now) }
            if let wanted = configuration.device, let device, device != wanted { return [] }
            let wasMute = isMute(at: now)
            receiverSpoke(at: now)
            return wasMute ? judgeReceivers(at: now) : []
        case .position(let report):
            return position(report, at: now)
        case .error(let text):
            return error(text)
        }
    }

    private mutating func position(_ report: GNSSReport, at now: MonotonicTime) -> [Action] {
        if let wanted = configuration.device, let device = report.device, device != wanted { return [] }
        var report = report
        report.satellitesUsed = receivers.satellites(of: report.device, at: now, within: timing.skyAge)
        reportBeforeSilence = now
        lastReport = now
        receiverSpoke(at: now)
        // A report is evidence of a receiver, whatever gpsd's list has room for.
        if let device = report.device, !receivers.isActive(device) {
            receivers.update(GPSDDevice(path: device, isActive: true))
        }
        counters.reports &+= 1
        let actions: [Action]
        if report.mode >= 2 {
            actions = become(.fix)
        } else if report.mode == 1 || isWithoutDevice {
            actions = become(.noFix)
        } else {
            // Mode 0 means that this message of the receiver does not say. The mode of the message before still counts.
            actions = []
        }
        return actions + [.deliver(.report(report))]
    }

    private mutating func error(_ text: String) -> [Action] {
        if text.contains("ermission denied") {
            lastWord = nil
            return endRun() + become(.permissionDenied(reason: "gpsd: \(text)"))
        }
        // gpsd's answers to a WATCH for a receiver that it does not have or cannot open.
        if text.hasPrefix("No such device") || text.hasPrefix("Can't assign") {
            lastWord = nil
            return endRun() + become(.noDevice(reason: "gpsd: \(text)"))
        }
        return []
    }

    private mutating func judgeReceivers(at now: MonotonicTime) -> [Action] {
        if let reason = receivers.lack(of: configuration.device) {
            lastWord = nil
            return endRun() + become(.noDevice(reason: reason))
        }
        // That gpsd has it open makes no silent receiver talk.
        return isWithoutDevice && !isMute(at: now) ? become(.noFix) : []
    }

    private mutating func heardReceiver(at now: MonotonicTime) {
        receiverHeard = now
        hasAskedForReceivers = false
    }

    private mutating func receiverSpoke(at now: MonotonicTime) {
        if let lastWord { pauses = pauses.suffix(Self.mostPauses - 1) + [min(now - lastWord, Self.longestMute)] }
        lastWord = now
        heardReceiver(at: now)
    }

    /// Milliseconds without a word after which a receiver that gpsd has open counts as away: three times the longest pause that it
    /// made lately, for a receiver that speaks seldom.
    private var mute: Int64 { max(timing.mute, min(3 * (pauses.max() ?? 0), Self.longestMute)) }

    private func isMute(at now: MonotonicTime) -> Bool { now >= receiverHeard + mute }

    private var muteReason: String {
        let name = configuration.device.map { "the receiver \($0)" } ?? "the receiver"
        return
            "\(name) has sent nothing for \(mute / 1000) s: unplugged, switched off, or another speed of the port"
    }

    private var isWithReceiver: Bool { state == .fix || state == .noFix }

    private var isWithoutDevice: Bool {
        switch state {
        // What a lost connection has left behind holds until the next one tells of receivers.
        case .noDevice, .permissionDenied, .connecting, .unreachable: true
        case .stopped, .noFix, .fix: false
        }
    }

    private mutating func endRun() -> [Action] {
        guard reportBeforeSilence != nil else { return [] }
        reportBeforeSilence = nil
        return [.deliver(.silence)]
    }

    private mutating func become(_ next: FeedState) -> [Action] {
        guard next != state else { return [] }
        state = next
        return [.deliver(.state(next))]
    }
}
