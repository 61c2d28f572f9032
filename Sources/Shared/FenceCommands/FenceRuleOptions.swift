internal import ArgumentParser
package import FenceFiles
package import Geofencing
internal import JSON
internal import Terminal
internal import TrackModel

/// What a fence tells, of whom and when. What is not given stays as it is.
package struct FenceRuleOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "What is told: enter, exit, stay, with commas between them (default: enter,exit).", valueName: "list"))
    var rule: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Tell a stay so many seconds after the enter, 5 to 604800.", valueName: "seconds"))
    var stay: Int?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Tell the stay again, every so many seconds (default: once a visit).", valueName: "seconds"))
    var stayEvery: Int?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Tell enter and exit only when they have held for so long.", valueName: "seconds"))
    var settle: Int?

    @Flag(inversion: .prefixedNo, help: "Tell an enter when the vehicle is first seen inside.")
    var initial: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Tell a visit between two points (default: of areas, and not of corridors).")
    var through: Bool?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "The way between two points is known when at most so many seconds lie between them, 0 to 300 (default: 120).",
            valueName: "seconds"))
    var crossingGap: Int?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Do not judge points with a worse accuracy; 0 judges all (default: 0).", valueName: "m"))
    var denoise: Int32?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Count only from this altitude on, above mean sea level.", valueName: "m"))
    var above: Double?

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("Count only up to this altitude.", valueName: "m"))
    var below: Double?

    @Option(name: .long, help: ArgumentHelp("Tell nothing before this time.", valueName: "time"))
    var from: String?

    @Option(name: .long, help: ArgumentHelp("Tell nothing after this time.", valueName: "time"))
    var until: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Tell only in these hours, as in 'mon-fri 08:00-18:00', 'sat,sun 22:00-06:00'; may be given again.",
            valueName: "days hours"))
    var window: [String] = []

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "The zone of the windows, as in Asia/Shanghai, +08:00 or UTC (default: the present offset of this computer).",
            valueName: "zone"))
    var zone: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Fences of one group are one more thing with alarms of its own: inside when any of them is.",
            valueName: "name"))
    var group: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Tell when a vehicle inside is faster.", valueName: "km/h"))
    var speedLimit: Double?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Tell it only when it is faster for so long, 0 to 3600 (default: 0).", valueName: "seconds"))
    var speedDuration: Int?

    @Option(name: .long, help: ArgumentHelp("Watch this entity; may be given again.", valueName: "name"))
    var watch: [String] = []

    @Flag(name: .long, help: "Watch every entity. The default for a new fence of a vehicle.")
    var watchAll = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What goes along with an action (enter, exit, stay, overspeed), as in enter='{\"gate\":3}'; may be given again.",
            valueName: "action=json"))
    var action: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Tell this action also to the others whom the fence watches; may be given again.", valueName: "action"))
    var remote: [String] = []

    @Flag(inversion: .prefixedNo, help: "The alarms of a vehicle's own fence go to the server too, if it takes them.")
    var report: Bool?

    package init() {}

    package func validate() throws {
        _ = try settings(of: nil, now: LocalTime.now)
    }

    package var isGiven: Bool { (try? settings(of: nil, now: 0)) != ImportSettings() }

    /// The changes as an import makes them. `base` is the fence that is changed. `isReportable`: the fences are a vehicle's own,
    /// whose alarms may go to the server; nil: nobody knows yet.
    package func settings(
        of base: FenceDefinition?, now: Int64, isReportable: Bool? = nil
    ) throws -> ImportSettings {
        var settings = ImportSettings()
        try readRule(into: &settings, base)
        (settings.settle, settings.isInitialTold, settings.through) = (settle, initial, through)
        (settings.crossingGap, settings.denoise, settings.group) = (crossingGap, denoise, group)
        settings.isReported = report
        settings.altitude = try altitude(base)
        settings.validity = try validity(base, now: now)
        settings.speedLimit = try limit(base)
        settings.watch = try watched()
        settings.reactions = try reactions(base, isReportable)
        guard isReportable != false || report == nil else {
            throw ValidationError("--report and --no-report are for the fences of a vehicle: leave them out")
        }
        return settings
    }

    /// The same in a command that runs: errors are sentences of its own.
    func changes(
        of base: FenceDefinition?, now: Int64, isReportable: Bool
    ) throws(FenceCommandFailure) -> ImportSettings {
        do {
            return try settings(of: base, now: now, isReportable: isReportable)
        } catch {
            throw FenceCommandFailure(.usage, TerminalText.safe((error as? ValidationError)?.message ?? "\(error)"))
        }
    }

    private func readRule(into settings: inout ImportSettings, _ base: FenceDefinition?) throws {
        var given: FenceRule?
        if let rule {
            var set: FenceRule = []
            for name in rule.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
                switch name.filter({ $0 != " " }) {
                case "enter": set.insert(.enter)
                case "exit": set.insert(.exit)
                case "stay": set.insert(.stay)
                case let other:
                    throw ValidationError(
                        "--rule '\(rule.shortened)': '\(other.shortened)' is none: give enter, exit or stay")
                }
            }
            given = set
        }
        guard stay != nil || stayEvery != nil || given != nil else { return }
        if stay != nil || stayEvery != nil {
            guard let after = stay ?? base?.stay?.after else {
                throw ValidationError("--stay-every needs --stay, the seconds until the first one")
            }
            guard let made = StayAlarmRule(after: after, every: stayEvery ?? (stay == nil ? nil : base?.stay?.every))
            else {
                throw ValidationError(
                    "a stay after \(after) s\(stayEvery.map { " and every \($0) s" } ?? ""): both are 5 to 604800 seconds"
                )
            }
            settings.stay = made
            let rule = given ?? (base?.rule ?? .usual).union(.stay)
            guard rule.contains(.stay) else { throw ValidationError("--stay is given, and --rule has no stay: add it") }
            settings.rule = rule
        } else if let given {
            settings.rule = given
            settings.stay = given.contains(.stay) ? base?.stay : nil
            guard !given.contains(.stay) || settings.stay != nil else {
                throw ValidationError("--rule has stay: give --stay, the seconds after the enter")
            }
        }
    }

    private func altitude(_ base: FenceDefinition?) throws -> AltitudeRange? {
        guard above != nil || below != nil else { return nil }
        func steps(_ metres: Double?, _ option: String) throws -> Int32? {
            guard let metres else { return nil }
            guard (-100_000...100_000).contains(metres) else {
                throw ValidationError("\(option) \(metres) is no altitude: give -100000 to 100000 metres")
            }
            return Int32((metres * 10).rounded())
        }
        let lower = try steps(above, "--above") ?? base?.altitude?.lower
        let upper = try steps(below, "--below") ?? base?.altitude?.upper
        guard let range = AltitudeRange(lower: lower, upper: upper) else {
            throw ValidationError("--above lies over --below: give the lower altitude with --above")
        }
        return range
    }

    private func validity(_ base: FenceDefinition?, now: Int64) throws -> FenceValidity? {
        guard from != nil || until != nil || !window.isEmpty || zone != nil else { return nil }
        var validity = base?.validity ?? FenceValidity()
        if let from {
            validity.from = Timestamp(milliseconds: try TimeArgument.parse(from, "--from", now: now))
        }
        if let until {
            validity.through = Timestamp(milliseconds: try TimeArgument.parse(until, "--until", now: now))
        }
        if !window.isEmpty {
            validity.windows = try window.map { try WindowText.window($0) }
            validity.zone = try zone.map { try ZoneText.zone($0) } ?? ZoneText.local()
        } else if let zone {
            guard !validity.windows.isEmpty else {
                throw ValidationError("--zone is the zone of weekly windows: give --window, too")
            }
            validity.zone = try ZoneText.zone(zone)
        }
        return validity
    }

    private func limit(_ base: FenceDefinition?) throws -> SpeedLimit? {
        guard speedLimit != nil || speedDuration != nil else { return nil }
        let speed = speedLimit.map { ($0 / 3.6 * 100).rounded() } ?? base?.speedLimit.map { Double($0.speed) }
        guard let speed else { throw ValidationError("--speed-duration needs --speed-limit, the speed in km/h") }
        guard let steps = Int32(exactly: speed),
            let limit = SpeedLimit(speed: steps, duration: speedDuration ?? base?.speedLimit?.duration ?? 0)
        else {
            throw ValidationError(
                "a speed limit of \(speedLimit ?? speed / 100 * 3.6) km/h for \(speedDuration ?? 0) s: the speed is above 0, the time"
                    + " 0 to 3600 seconds")
        }
        return limit
    }

    private func watched() throws -> FenceSubjects? {
        guard !watchAll || watch.isEmpty else {
            throw ValidationError("--watch and --watch-all exclude each other: give one of them")
        }
        if watchAll { return .everyone }
        guard !watch.isEmpty else { return nil }
        do throws(FenceError) {
            return try FenceSubjects(watch)
        } catch {
            throw ValidationError("--watch: \(error)".printable)
        }
    }

    /// The reactions of the fence with those that are given in their places.
    private func reactions(_ base: FenceDefinition?, _ isReportable: Bool?) throws -> [FenceReaction]? {
        guard !action.isEmpty || !remote.isEmpty else { return nil }
        var given: [FenceAction: (parameters: String?, isRemote: Bool)] = [:]
        func known(_ name: Substring, _ option: String) throws -> FenceAction {
            guard let action = FenceAction(rawValue: name.lowercased()) else {
                throw ValidationError(
                    "\(option) '\(String(name).shortened)' is no action: give enter, exit, stay or overspeed")
            }
            return action
        }
        for text in action {
            guard let sign = text.firstIndex(of: "=") else {
                throw ValidationError("--action '\(text.shortened)': give it as enter='{\"gate\":3}'")
            }
            let name = try known(text[..<sign], "--action")
            guard given[name] == nil else { throw ValidationError("--action \(name.rawValue) is given twice") }
            let value = try? JSONReader.value(of: Array(text[text.index(after: sign)...].utf8))
            guard let value, value.objectValue != nil else {
                throw ValidationError(
                    "--action '\(text.shortened)': what follows = is a JSON object, as in enter='{\"gate\":3}'")
            }
            given[name] = (value.description, false)
        }
        for text in remote { given[try known(text[...], "--remote"), default: (nil, false)].isRemote = true }
        guard isReportable != true || remote.isEmpty || (report ?? base?.isReported ?? false) else {
            throw ValidationError(
                "--remote tells other vehicles through the server, and without --report the server hears nothing: add --report"
            )
        }
        var reactions = base?.reactions ?? []
        for (name, value) in given.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let former = reactions.first { $0.on == name }
            reactions.removeAll { $0.on == name }
            do throws(FenceError) {
                reactions.append(
                    try FenceReaction(
                        on: name, parameters: value.parameters ?? former?.parameters ?? "{}",
                        isRemote: value.isRemote || former?.isRemote == true))
            } catch {
                throw ValidationError("--action: \(error)")
            }
        }
        return reactions
    }
}
