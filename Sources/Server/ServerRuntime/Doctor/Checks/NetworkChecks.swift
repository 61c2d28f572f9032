import Diagnosing
import TrackModel

/// The ports of the server, and the programs that it asks: the road engine and the operators' URLs.
enum NetworkChecks {
    static func ports(_ facts: ServerFacts) -> Finding {
        .joined(facts.ports.map { judge($0, facts.isServed) }) ?? .notChecked("the ports were not looked at")
    }

    private static func judge(_ port: PortFacts, _ isServed: Bool?) -> Finding {
        let number = port.place.split(separator: ":").last.map(String.init) ?? port.place
        let who =
            "Who listens there: sudo apt install iproute2, then: sudo ss -ltnp 'sport = :\(number)'. Stop it, or change \(port.setting)"
        switch (port.found, isServed) {
        case (.notFixed, _): return .ok("\(port.setting): any")
        case (.unusable(let reason), _):
            return .failed("\(port.place) (\(port.setting)) cannot be listened on: \(reason)", who)
        case (.free, true?), (.privileged, true?):
            return .failed(
                "the server runs, and nobody listens at \(port.place) (\(port.setting))",
                "It began with another configuration, or is still starting: sudo systemctl restart saker-server")
        case (.privileged, _):
            return .warning(
                "\(port.place) (\(port.setting)) is below 1024: only a server with a privilege may listen there, and this user "
                    + "cannot tell whether it is free",
                "Put published-ports.conf in place as docs/web-api.md says, or use a port from 1024 on; then: sudo systemctl "
                    + "start saker-server")
        case (.free, _): return .ok("\(port.place) is free")
        case (.ours, false?):
            return .failed(
                "\(port.place) (\(port.setting)): a saker-server with another store answers", who)
        case (.ours, _): return .ok("\(port.place) is the server's")
        case (.otherCertificate, true?):
            return .warning(
                "\(port.place) (\(port.setting)) answers with another certificate than that of the file",
                "sudo systemctl reload saker-server; journalctl -u saker-server says when it refuses a certificate")
        case (.otherCertificate, _):
            return .failed("\(port.place) (\(port.setting)): another TLS server answers", who)
        case (.stranger(let what), _):
            return .failed("\(port.place) (\(port.setting)): another program answers: \(what)", who)
        }
    }

    // MARK: Roads

    /// How to get an engine, in short.
    private static let howTo =
        "Run Valhalla 3.7 or later and build its tiles, as docs/roads.md says: docker run -p 127.0.0.1:8002:8002 "
        + "-v $PWD/roads:/custom_files -e tile_urls=https://download.geofabrik.de/REGION-latest.osm.pbf "
        + "ghcr.io/valhalla/valhalla-scripted:latest"

    static func roads(_ facts: ServerFacts) -> Finding {
        switch facts.roads {
        case nil: return .ok("no road engine is configured; tracks stay where the receivers saw them")
        case .silent(let reason): return .failed("the road engine \(reason)", howTo)
        case .answers(let version, let missing, _, _):
            guard missing.isEmpty else {
                return .failed(
                    "the road engine \(version) does not offer \(missing.joined(separator: ", "))",
                    "Name the actions in service.actions of its configuration (valhalla.json), or use its default")
            }
            guard isNew(version) else {
                return .warning("the road engine is \(version)", "Valhalla 3.7 or later is needed: \(howTo)")
            }
            return .ok("Valhalla \(version) answers")
        }
    }

    static func tiles(_ facts: ServerFacts) -> Finding {
        guard let roads = facts.roads else { return .ok("no road engine is configured") }
        guard case .answers(_, _, let modified, let tiles) = roads else {
            return .notChecked("the road engine does not answer")
        }
        let map = modified > 0 ? "the map of \(TimeText.day(modified))" : "the map"
        switch tiles {
        case .noPositions: return .ok("\(map); no vehicle has a position yet")
        case .failed(let reason):
            return .warning("the engine does not say which roads it has: \(reason)", howTo)
        case .known(let known, let count) where known == count:
            return .ok("\(map) has roads around all of the \(count) latest positions")
        case .known(let known, let count):
            let remedy = "Build tiles of the region where the vehicles are: https://download.geofabrik.de. \(howTo)"
            let text = "\(map) has roads around \(known) of the \(count) latest positions"
            return known == 0 ? .failed(text, remedy) : .warning(text, remedy)
        }
    }

    /// 3.7 or later; a version of another form is taken for new.
    static func isNew(_ version: String) -> Bool {
        let numbers = version.split(separator: ".").prefix(2).map { Int($0) }
        guard let major = numbers.first ?? nil else { return true }
        guard major == 3, numbers.count > 1, let minor = numbers[1] else { return major > 3 }
        return minor >= 7
    }

    // MARK: Callbacks

    static func callbacks(_ facts: ServerFacts) -> Finding {
        guard let callbacks = facts.callbacks else { return .notChecked("the store was not read") }
        return .joined(callbacks.map { judge($0, facts.now.milliseconds) }) ?? .ok("no service has a URL for alarms")
    }

    private static func judge(_ callback: CallbackFacts, _ now: Int64) -> Finding {
        let whose = "service \(callback.service): \(callback.url)"
        let queue = "\(callback.waiting) \(callback.waiting == 1 ? "alarm waits" : "alarms wait")"
        if let problem = callback.problem {
            let since = callback.failingSince.map { ", the oldest for \(max(0, (now - $0) / 1000)) s" } ?? ""
            return .failed(
                "\(whose) does not take alarms: \(problem); \(queue)\(since)",
                "Repair the receiver; the server tries an alarm for ten minutes, then it is only in fence/historyalarm. "
                    + "fence/cancelurl ends the sending")
        }
        if callback.waiting > 1000 || callback.failingSince.map({ now - $0 > 60_000 }) == true {
            return .warning(
                "\(whose) answers, but \(queue)",
                "Does a server run? The receiver must answer each request with status 0 and the header SignId in ten seconds"
            )
        }
        return .ok("\(whose) takes alarms, \(queue)")
    }
}
