import AgentControl
import Terminal

/// Shows the status to a person. Every time is relative to the agent's own clock.
struct StatusView {
    private let status: AgentStatus

    init(_ status: AgentStatus) {
        self.status = status
    }

    var lines: [String] { lines(width: nil) }

    /// `width`: columns of the terminal, where sentences go on below; nil: a line for each.
    func lines(width: Int?) -> [String] {
        var table = TextTable.pairs
        let rows =
            HealthView.rows(status) + [
                ("Service", service), ("Gather", gather), ("Receiver", feed), ("Fix", fix), ("Connection", link),
                ("Cache", cache), ("Points", points),
            ] + fences + ServerFencesView.rows(status) + attributes + counted("Skipped", status.counters.skipped) + lost
            + remembered + computer + [
                ("Settings", [SettingsView.line(status.settings)]), ("Agent", [agent]),
            ]
        for (title, texts) in rows {
            for (index, text) in texts.enumerated() { table.add(index == 0 ? title : "", text) }
        }
        return TextFold.lines(headline, width: width) + [""] + table.lines(width: width)
    }

    /// The status in one line.
    var headline: String {
        let entity = status.entity.map { "\($0) is " } ?? ""
        return ((status.tracked ? "● \(entity)tracked: " : "○ \(entity)not tracked: ") + status.reason).printable
    }

    private var now: Int64 { status.time }

    private func since(_ time: Int64?) -> String {
        time.map { " since \(LocalTime.both($0, now: now))" } ?? ""
    }

    /// Nothing while everything that the agent was told is on the disk.
    private var remembered: [(String, [String])] {
        guard let remembered = status.remembered else { return [] }
        let words =
            switch remembered.state {
            case .durable: ""
            case .writing: "the last changes are being written to the disk"
            case .failing: "the last changes are not on the disk, and a restart may forget them"
            }
        guard !words.isEmpty else { return [] }
        return [("Changes", [words + since(remembered.since), remembered.lastError].compactMap { $0 })]
    }

    private var computer: [(String, [String])] {
        guard status.isOnAnotherComputer == true else { return [] }
        return [
            (
                "Computer",
                [
                    "not the one on which the agent ran last: this disk is a copy, or the board was replaced",
                    "if it is a copy: sudo saker image prepare, then sudo saker enroll",
                ]
            )
        ]
    }

    private var service: [String] {
        let entity = status.service.entity.map { " as \($0)" } ?? ""
        return [status.service.state.rawValue + entity + since(status.service.since)]
    }

    private var gather: [String] {
        let state =
            switch status.gather.state {
            case .stopped: "stopped"
            case .waiting: "waiting for a fix"
            case .gathering: "gathering every \(status.settings.gatherInterval) s"
            }
        let parked = status.gather.parkedSince.map { time in
            "parked since \(LocalTime.both(time, now: now))"
                + (status.settings.parkingInterval.map { ", a point every \($0) s" } ?? "")
        }
        let last = status.gather.lastPointTime.map { "last point \(LocalTime.both($0, now: now))" }
        let dates = status.gather.dates
        return [state + since(status.gather.since)] + [parked, last, dates?.text, dates?.remedy].compactMap { $0 }
    }

    private var feed: [String] {
        let feed = status.feed
        let state =
            switch feed.state {
            case .closed: "not in use"
            case .connecting: "gpsd has not answered yet"
            case .unreachable: "gpsd does not answer"
            case .permissionDenied: "gpsd may not be used"
            case .noDevice: "gpsd has no receiver"
            // Before the first fix the time is that of the beginning, which is no news.
            case .noFix: feed.lastFix == nil ? "no fix yet" : "no fix"
            case .fix: "fix"
            }
        // The sentence of the agent names gpsd's address, and why it does not answer.
        if feed.state == .unreachable || feed.state == .permissionDenied, let error = feed.lastError,
            error.contains("gpsd ")
        {
            return [error, feed.since.map { "since \(LocalTime.both($0, now: now))" }].compactMap { $0 }
        }
        let place = [feed.source.map { "gpsd at \($0)" }, feed.device].compactMap { $0 }.joined(separator: ", ")
        return [state + since(feed.since), place, feed.lastError ?? ""].filter { !$0.isEmpty }
    }

    private var fix: [String] {
        guard let fix = status.feed.lastFix else { return ["none yet"] }
        let quality = [
            fix.mode.map { "\($0)D" }, fix.satellites.map { Quantity.count($0, "satellite") },
            fix.accuracy.map { "±\(Quantity.decimal($0, 1)) m" },
        ]
        let motion = [
            fix.speed.map { Quantity.speed($0) }, fix.course.map { "course \(Quantity.decimal($0, 0))°" },
            fix.altitude.map { "altitude \(Quantity.decimal($0, 0)) m" },
        ]
        let details = (quality + motion).compactMap { $0 }.joined(separator: ", ")
        let age = fix.age < 1000 ? "now" : DurationText.text(fix.age) + " ago"
        return [
            "\(Quantity.place(fix.latitude, fix.longitude)) at \(LocalTime.text(fix.time)) (\(age))", details,
        ].filter { !$0.isEmpty }
    }

    private var link: [String] {
        let link = status.link
        var lines = [link.words + since(link.since)]
        // The state changes with each try, so its time does not tell how long the connection is missing.
        if let offline = link.offlineSince { lines.append("offline\(since(offline))") }
        let place = [
            link.server, link.session.map { "session \($0)" }, link.encryption,
        ].compactMap { $0 }.joined(separator: ", ")
        if !place.isEmpty { lines.append(place) }
        if let error = link.lastError { lines.append(error) }
        if let next = link.nextTryTime {
            let tries = link.attempts.map { ", \($0) so far" } ?? ""
            lines.append("next try \(DurationText.relative(next, now: now))\(tries)")
        }
        return lines
    }

    private var cache: [String] {
        CacheView.lines(
            status.cache, now: now, isOnline: status.link.state == .online,
            isLosing: (status.counters.lost["bound"] ?? 0) > 0)
    }

    private var points: [String] {
        let counters = status.counters
        var parts = [
            "\(Quantity.count(counters.gathered)) gathered from \(Quantity.count(counters.fixes, "fix", "fixes"))",
            "\(Quantity.count(max(0, counters.acknowledged - counters.refused))) stored by the server",
        ]
        if counters.refused > 0 { parts.append("\(Quantity.count(counters.refused)) refused by the server") }
        return [parts.joined(separator: ", ")]
    }

    /// Nothing while there is no fence and no trouble.
    private var fences: [(String, [String])] {
        guard let fences = status.fences else { return [] }
        var lines: [String] = []
        if fences.kept > 0 {
            let watching =
                fences.watching == fences.kept ? "" : ", \(Quantity.count(fences.watching)) watch this vehicle"
            lines.append("\(Quantity.count(fences.kept, "fence"))\(watching), inside \(Quantity.count(fences.inside))")
        }
        if let last = fences.lastAlarmTime {
            lines.append(
                "\(Quantity.count(fences.alarms, "alarm")) since the start, the last \(LocalTime.both(last, now: now))")
        }
        if let error = fences.lastError {
            lines.append("\(Quantity.count(fences.waiting, "alarm")) NOT ON THE DISK: \(error)")
        }
        switch fences.remembered.state {
        case .durable: break
        case .writing: lines.append("the last changes are being written to the disk" + since(fences.remembered.since))
        case .failing:
            lines.append(
                "the last changes are not on the disk, and a restart may forget them: "
                    + (fences.remembered.lastError ?? "the disk refuses writes"))
        }
        return lines.isEmpty ? [] : [("Fences", lines)]
    }

    private var attributes: [(String, [String])] {
        guard let attributes = status.attributes, attributes.set > 0 || attributes.providers > 0 else { return [] }
        let parts = [
            "\(Quantity.count(attributes.set, "value")) set", Quantity.count(attributes.providers, "provider"),
        ]
        return [("Attributes", [parts.joined(separator: ", ")])]
    }

    private var lost: [(String, [String])] {
        let counted = counted("Lost", status.counters.lost)
        guard let row = counted.first else { return [("Lost", ["nothing since the agent started"])] }
        let last = status.counters.lastLossTime.map { "the last \(LocalTime.both($0, now: now))" }
        return [(row.0, row.1 + (last.map { [$0] } ?? []))]
    }

    private func counted(_ title: String, _ reasons: [String: Int64]) -> [(String, [String])] {
        let named = reasons.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        guard !named.isEmpty else { return [] }
        return [
            (
                title,
                [
                    named.map {
                        "\(Quantity.count($0.value)) \($0.key.map { $0 == "_" ? " " : String($0) }.joined())"
                    }.joined(separator: ", ")
                ]
            )
        ]
    }

    private var agent: String {
        "sakerd \(status.version), up \(DurationText.text(max(now &- status.startedTime, 0)))"
    }
}

extension LinkStatus {
    /// Causes for which this vehicle refuses the server, by the names of `last_error_cause`.
    private static let ownRefusals: Set<String> = [
        "certificate_expired", "certificate_not_yet_valid", "certificate_untrusted", "certificate_wrong_name",
        "pin_mismatch",
        "protocol_version", "alpn_mismatch",
    ]

    /// The state in words.
    var words: String {
        switch state {
        case .closed: "closed"
        case .connecting: "connecting"
        case .handshaking: "connecting (TLS)"
        case .loggingIn: "logging in"
        case .online: "online"
        case .waiting: "waiting to try again"
        case .refused where lastErrorCause == "credentials_unusable": "cannot be made"
        // This vehicle refuses what the server shows.
        case .refused where Self.ownRefusals.contains(lastErrorCause ?? ""): "refused by this vehicle"
        case .refused: "refused by the server"
        case .closing: "closing"
        }
    }
}

/// The vehicle's health, as its operator hears of it.
enum HealthView {
    /// Nothing of an agent that does not say.
    static func rows(_ status: AgentStatus) -> [(String, [String])] {
        guard let health = status.health else { return [] }
        var lines = health.troubles.map { "TROUBLE: \($0.text)" }
        if lines.isEmpty { lines = ["well"] }
        if let end = health.certificateEndTime {
            lines.append("own certificate until \(LocalTime.both(end, now: status.time))")
        }
        lines.append(told(health, status))
        return [("Health", lines)]
    }

    private static func told(_ health: HealthStatus, _ status: AgentStatus) -> String {
        guard let time = health.toldTime else { return "the server has not been told since the agent started" }
        return "the server was told \(DurationText.relative(time, now: status.time))"
    }
}

/// The server's fences in the status.
enum ServerFencesView {
    /// Nothing while there is no fence and no trouble.
    static func rows(_ status: AgentStatus) -> [(String, [String])] {
        guard let fences = status.fences?.server else { return [] }
        let lines = set(fences, now: status.time) + troubles(fences) + alarms(fences, now: status.time)
        return [("Server fences", lines)]
    }

    private static func set(_ fences: ServerFencesStatus, now: Int64) -> [String] {
        guard fences.version > 0 else { return ["none yet"] }
        var lines = ["\(Quantity.count(fences.kept, "fence")), inside \(Quantity.count(fences.inside))"]
        if let time = fences.changedTime {
            lines.append("version \(fences.version), changed \(LocalTime.both(time, now: now))")
        }
        if let metres = fences.completeWithin {
            lines.append("only the nearest ones: all within \(Quantity.distance(Double(metres)))")
        }
        if let count = fences.notJudged, count > 0 {
            let reasons = fences.notJudgedReasons.map { ": " + $0.joined(separator: "; ") } ?? ""
            lines.append("\(Quantity.count(count)) judged by the server alone\(reasons)")
        }
        if fences.sent == false { lines.append("the server sends no fences: its version does not know how") }
        return lines
    }

    private static func troubles(_ fences: ServerFencesStatus) -> [String] {
        var lines: [String] = []
        if let error = fences.lastError { lines.append("THE NEWEST UPDATE IS NOT IN USE: \(error)") }
        if let error = fences.fileError {
            lines.append("not read from the disk, the server sends them again: \(error)")
        }
        if fences.remembered.state == .failing {
            lines.append(
                "not on the disk, and a restart goes on with an earlier set: "
                    + (fences.remembered.lastError ?? "the disk refuses writes"))
        }
        return lines
    }

    private static func alarms(_ fences: ServerFencesStatus, now: Int64) -> [String] {
        var parts: [String] = []
        if fences.alarms > 0 || fences.confirmed > 0 {
            parts.append(
                "\(Quantity.count(fences.alarms, "early alarm")) since the start, \(Quantity.count(fences.confirmed)) confirmed"
            )
        }
        if let waiting = fences.confirmationsWaiting, waiting > 0 {
            parts.append("\(Quantity.count(waiting)) wait for the server's word")
        }
        if fences.unconfirmed > 0 { parts.append("\(Quantity.count(fences.unconfirmed)) NOT CONFIRMED in time") }
        var lines = parts.isEmpty ? [] : [parts.joined(separator: ", ")]
        if fences.reportsWaiting > 0 {
            let since = fences.reportsWaitingSince.map { ", no answer since \(LocalTime.both($0, now: now))" } ?? ""
            let elsewhere = fences.reportsElsewhere.flatMap { count in
                count > 0 ? ", \(Quantity.count(count)) of them for another entity or service" : nil
            }
            lines.append(
                "\(Quantity.count(fences.reportsWaiting, "report")) to the server waiting\(elsewhere ?? "")\(since)")
        }
        return lines
    }
}
