import AgentControl
import Diagnosing
import Terminal

/// gpsd, its receiver, and what comes from it.
enum ReceiverChecks {
    /// Metres; a horizontal error that no road is as wide as.
    private static let poorAccuracy = 50.0
    /// Milliseconds; fixes come at least every few seconds.
    private static let oldFix: Int64 = 10_000

    static func gpsd(_ facts: Facts) -> Finding {
        guard let gpsd = facts.gpsd else {
            return .notChecked("neither the agent nor a file names gpsd's address")
        }
        switch gpsd.result {
        case .answers(let release, _, _): return .ok("gpsd \(release) answers at \(gpsd.place)")
        case .foreign(let start):
            return .failed(
                "another program than gpsd answers at \(gpsd.place), its answer begins with \"\(start)\"",
                "Set host and port in [gnss] of \(facts.configurationPath), then: sudo systemctl restart sakerd")
        case .unreachable(let reason):
            return .failed(
                "gpsd does not answer at \(gpsd.place) (\(reason))",
                isHere(gpsd.host)
                    ? "Start it: sudo systemctl enable --now gpsd.socket (install it: sudo apt install gpsd). It hangs? "
                        + "sudo systemctl restart gpsd"
                    : "On \(gpsd.host), let gpsd listen to the network (gpsd -G) and let port \(gpsd.port) through "
                        + "the firewall")
        }
    }

    static func device(_ facts: Facts) -> Finding {
        guard case .answers(_, let devices, _) = facts.gpsd?.result else {
            return .notChecked("gpsd does not answer")
        }
        guard !devices.isEmpty else {
            let port = facts.serialPorts.first ?? "/dev/ttyACM0"
            let ports =
                facts.serialPorts.isEmpty
                ? "there is no serial port either: is the receiver plugged in? See: sudo dmesg"
                : "serial ports here: \(facts.serialPorts.joined(separator: ", "))"
            return .failed(
                "gpsd has no receiver; \(ports)",
                "Write DEVICES=\"\(port)\" into /etc/default/gpsd, then: sudo systemctl restart gpsd. To try: "
                    + "sudo gpsdctl add \(port)")
        }
        let names = devices.map { $0.driver.isEmpty ? $0.path : "\($0.path) (\($0.driver))" }.joined(separator: ", ")
        if let wanted = facts.configuration.places?.device, !devices.contains(where: { $0.path == wanted }) {
            return .failed(
                "gpsd has \(names), but the configuration wants \(wanted)",
                "Set or remove device in [gnss] of \(facts.configurationPath), then: sudo systemctl restart sakerd")
        }
        if let dates = facts.status?.gather.dates, dates.kind == .receivers {
            return .warning("\(names): \(dates.text)", dates.remedy)
        }
        return .ok(names)
    }

    static func fix(_ facts: Facts) -> Finding {
        if case .answers(_, let devices, let seen) = facts.gpsd?.result {
            if let dates = facts.status?.gather.dates, [.missing, .standing].contains(dates.kind) {
                return dates.isClockUsed
                    ? .warning(dates.text, dates.remedy) : .failed(dates.text, dates.remedy)
            }
            if let status = facts.status, status.feed.state == .fix, let fix = status.feed.lastFix {
                return judge(fix.mode ?? 2, fix.accuracy, age: fix.age, satellites: fix.satellites)
            }
            if devices.isEmpty { return .notChecked("gpsd has no receiver") }
            if let seen, seen.mode >= 2 { return judge(seen.mode, seen.accuracy, age: 0, satellites: nil) }
            guard seen != nil else {
                return .failed(
                    "the receiver says nothing",
                    "Check the receiver's cable and power, and the speed of its port. See what it sends: \(Remedy.receiver)"
                )
            }
            return .failed(
                "the receiver reports and has no fix",
                "Give the antenna a free view of the sky; a cold start takes up to 15 min. See the satellites: "
                    + Remedy.satellites)
        }
        return .notChecked("gpsd does not answer")
    }

    private static func judge(_ mode: Int64, _ accuracy: Double?, age: Int64, satellites: Int64?) -> Finding {
        var found = "\(mode)D"
        if let accuracy { found += ", accurate to \(Quantity.decimal(accuracy, 1)) m" }
        if let satellites { found += ", \(satellites) satellites" }
        if age > 0 { found += ", \(DurationText.text(age)) old" }
        let antenna = "Give the antenna a freer view of the sky. See the satellites: \(Remedy.satellites)"
        if age > oldFix {
            return .warning(
                found, "Does the receiver still send? \(Remedy.receiver). Then: sudo systemctl restart gpsd")
        }
        if let accuracy, accuracy > poorAccuracy { return .warning(found, antenna) }
        return mode < 3 ? .warning(found, antenna) : .ok(found)
    }

    private static func isHere(_ host: String) -> Bool {
        ["localhost", "127.0.0.1", "::1"].contains(host)
    }
}

/// The system clock. Points carry the receiver's time and do not need it; certificates may.
enum ClockCheck {
    /// Milliseconds: 2026-11-21, when this version was made. A clock before it is wrong for certain.
    static let madeAt: Int64 = 1_795_219_200_000
    /// Milliseconds: more than a slow answer explains.
    private static let noticeable: Int64 = 10_000
    private static let day: Int64 = 86_400_000

    static func clock(_ facts: Facts) -> Finding {
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
            return .failed(text + "; the server's certificate is not yet valid by it", keep)
        }
        if clock.time < madeAt {
            return .warning(
                "it says \(LocalTime.text(clock.time)), which is before this program was built; \(text)", keep)
        }
        if let dates = facts.status?.gather.dates, dates.kind == .disagreement {
            return .warning("\(dates.text); \(text)", dates.remedy)
        }
        if let receiver = clock.receiverDifference, receiver.magnitude > day, clock.isSynchronised == true {
            return .warning(
                "the receiver's date is wrong: \(text)",
                "Update the receiver's firmware (a week rollover), and gpsd")
        }
        if let server = clock.serverDifference, server.magnitude > noticeable { return .warning(text, keep) }
        if clock.isSynchronised == false { return .warning(text, keep) }
        return .ok(text)
    }

    private static func difference(_ milliseconds: Int64) -> String {
        if milliseconds.magnitude < 1000 { return "agrees" }
        let span = DurationText.text(Int64(clamping: milliseconds.magnitude))
        return "\(span) \(milliseconds > 0 ? "ahead" : "behind")"
    }
}
