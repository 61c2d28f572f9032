import Foundation
import ProgramTestKit
import Testing

/// The metrics of the real agent and server, as Prometheus and node_exporter read them.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd)) struct MetricsTests {
    /// One page in the text format, read strictly.
    private struct Page {
        var samples: [String: Double] = [:]
        var types: [String: String] = [:]

        init(_ text: String) throws {
            #expect(text.hasSuffix("\n"))
            var helped = ""
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                if let help = line.wholeMatch(of: /# HELP ([a-z_]+) [^\\]+/) {
                    helped = String(help.1)
                } else if let type = line.wholeMatch(of: /# TYPE ([a-z_]+) (counter|gauge|histogram)/) {
                    #expect(helped == type.1)
                    #expect(types.updateValue(String(type.2), forKey: helped) == nil, "\(helped) comes twice")
                } else {
                    let sample = try #require(
                        line.wholeMatch(of: /([a-z_]+)((?:\{(?:[a-z]+="[^"\\\n]*",?)+\})?) (\S+)/), "\(line)")
                    let isHistogram = types[helped] == "histogram"
                    let name = String(isHistogram ? sample.1.replacing(/_(bucket|sum|count)$/, with: "") : sample.1)
                    #expect(name == helped, "\(line) stands below \(helped)")
                    let value = try #require(Double(sample.3.replacing("Inf", with: "inf")), "\(line)")
                    let series = String(sample.1 + sample.2)
                    #expect(samples.updateValue(value, forKey: series) == nil, "\(line) comes twice")
                }
            }
        }

        subscript(series: String) -> Double? { samples[series] }
    }

    private func scrape(_ arguments: String...) throws -> Page {
        let answer = try Program.run(
            "/usr/bin/curl", ["--silent", "--show-error", "--fail", "--max-time", "20"] + arguments)
        try #require(answer.status == 0, "\(answer.all)")
        return try Page(answer.output)
    }

    private func edit(_ path: String, _ changes: [(String, String)]) throws {
        var text = try String(contentsOfFile: path, encoding: .utf8)
        for (old, new) in changes {
            try #require(text.contains(old), "\(path) does not hold \(old)")
            text = text.replacing(old, with: new, maxReplacements: 1)
        }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// docs/metrics.md
    private func document() throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/metrics.md")
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// The names in the tables of docs/metrics.md.
    private func documented(_ prefix: String) throws -> Set<String> {
        let rows = try document().matches(of: /\n\| `(saker_[a-z_]+)` \|/)
        let names = rows.map { String($0.1) }
        return Set(names.filter { $0.hasPrefix(prefix) })
    }

    @Test func agentAndServerTellOfTheSamePoints() throws {
        let (agentPort, serverPort) = (try freePort(), try freePort())
        let textfiles = try TemporaryDirectory()
        let textfile = textfiles.file("saker.prom")
        let fleet = try Fleet(
            agentTables: """
                [metrics]
                textfile = "\(textfile)"
                interval = 1
                listen = "127.0.0.1:\(agentPort)"
                """)
        try edit(
            fleet.server + "/server.toml",
            [
                ("# listen = \"127.0.0.1:9443\"", "listen = \"127.0.0.1:\(serverPort)\""),
                ("# merge_interval = 60", "merge_interval = 1"), ("# maximum_bytes = 0", "maximum_bytes = 1073741824"),
                // Nothing listens there: the metrics of roads are there all the same.
                ("# url = \"http://127.0.0.1:8002\"", "url = \"http://127.0.0.1:1\""),
            ])
        let source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: 120, from: 1_780_000_020), pause: 0.05)
        let gpsd = try fleet.startGPSD(source: source.address)
        let server = try fleet.startServer()
        let agent = try fleet.startAgent()
        try waitUntil("the agent is online", within: 300) { try fleet.linkState() == "online" }
        source.resume()
        try waitUntil("points are gathered", within: 300) { try fleet.counter("gathered") >= 20 }
        let stopped = try fleet.saker(["gather", "stop"])
        #expect(stopped.status == 0, "\(stopped.all)")
        try waitUntil("the cache is empty", within: 300) {
            try fleet.counter("acknowledged") == fleet.counter("gathered")
        }
        _ = try fleet.web("track/getlatestpoint", ["entity_name": fleet.entity])
        try waitUntil("a round of merging", within: 300) {
            try scrape("http://127.0.0.1:\(serverPort)/metrics")["saker_server_merge_last_success_timestamp_seconds"]
                != nil
        }

        let vehicle = try scrape("http://127.0.0.1:\(agentPort)/metrics")
        let fleetSide = try scrape("http://127.0.0.1:\(serverPort)/metrics")
        let gathered = try Double(fleet.counter("gathered"))
        #expect(vehicle["saker_agent_points_gathered_total"] == gathered)
        #expect(vehicle["saker_agent_points_acknowledged_total"] == gathered)
        #expect(fleetSide["saker_server_points_stored_total"] == gathered)
        #expect(vehicle["saker_agent_link_state{state=\"online\"}"] == 1)
        #expect(vehicle["saker_agent_link_offline_seconds"] == 0)
        #expect(vehicle["saker_agent_cache_points"] == 0)
        #expect(fleetSide["saker_server_sessions"] == 1)
        #expect(fleetSide["saker_server_logins_total"] == 1)
        #expect(fleetSide["saker_server_login_refusals_total{reason=\"authentication\"}"] == 0)
        #expect(fleetSide["saker_server_batches_stored_total"] == vehicle["saker_agent_batches_uploaded_total"])
        #expect(try #require(fleetSide["saker_server_commit_duration_seconds_count"]) >= 1)
        #expect(
            fleetSide["saker_server_commit_duration_seconds_bucket{le=\"+Inf\"}"]
                == fleetSide["saker_server_commit_duration_seconds_count"])
        let latest = "saker_server_api_requests_total{via=\"http\",call=\"track/getlatestpoint\",status=\"0\"}"
        #expect(fleetSide[latest] == 1)
        #expect(fleetSide["saker_server_store_limit_bytes"] == 1_073_741_824)
        #expect(try #require(fleetSide["saker_server_store_bytes"]) > 4096)
        let end = try #require(fleetSide["saker_server_certificate_expiry_timestamp_seconds"])
        #expect(end > Date().timeIntervalSince1970 + 800 * 86_400)

        // All that is documented is told, save what does not apply: the cache is empty, the test is short, and this
        // receiver does not count its satellites.
        let absent: Set = [
            "saker_agent_cache_time_to_full_seconds", "saker_agent_cache_oldest_point_timestamp_seconds",
            "saker_agent_fix_satellites",
        ]
        let untold = try documented("saker_agent_").subtracting(vehicle.types.keys)
        #expect(untold.isSubset(of: absent), "\(untold)")
        #expect(try documented("saker_server_").subtracting(fleetSide.types.keys) == [])
        #expect(try Set(vehicle.types.keys).subtracting(documented("saker_agent_")) == [])
        #expect(try Set(fleetSide.types.keys).subtracting(documented("saker_server_")) == [])
        try everyLabelIsDocumented(vehicle)
        try everyLabelIsDocumented(fleetSide)
        try theExamplesFindTheirSeries(vehicle, fleetSide)
        // Nobody learns who or where.
        for page in [vehicle, fleetSide] {
            for series in page.samples.keys {
                #expect(!series.contains(fleet.entity) && !series.contains("127.0.0.1"), "\(series)")
            }
        }

        try waitUntil("the text file tells the same", within: 300) {
            let page = try Page(String(contentsOfFile: textfile, encoding: .utf8))
            return page["saker_agent_points_acknowledged_total"] == gathered && page.types.count == vehicle.types.count
        }
        #expect(try FileManager.default.attributesOfItem(atPath: textfile)[.posixPermissions] as? Int == 0o644)
        try rejectsWhatIsNoScrape(agentPort)
        try rejectsWhatIsNoScrape(serverPort)
        checkWithPromtool(agentPort, serverPort)

        // Orderly, the file goes; killed, it stays and shows its age.
        #expect(agent.end(SIGTERM) == 0)
        #expect(!FileManager.default.fileExists(atPath: textfile))
        let again = try fleet.startAgent()
        try waitUntil("the text file is back", within: 300) { FileManager.default.fileExists(atPath: textfile) }
        again.end(SIGKILL)
        #expect(FileManager.default.fileExists(atPath: textfile))
        #expect(server.end(SIGTERM) == 0)
        gpsd.end(SIGKILL)
        source.end()
    }

    /// The section of a metric names each state and each reason that the page has.
    private func everyLabelIsDocumented(_ page: Page) throws {
        let sections = try document().split(separator: "\n### ")
        for series in page.samples.keys.sorted() {
            guard let match = series.wholeMatch(of: /(\w+)\{(state|reason)="(\w+)"\}/) else { continue }
            let section = sections.first { $0.contains("| `\(match.1)` |") }
            #expect(section?.contains("`\(match.3)`") == true, "\(series)")
        }
    }

    /// Alerts and panels select states and reasons that a real page has: with another word they would be silent for ever.
    private func theExamplesFindTheirSeries(_ pages: Page...) throws {
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var told: [String: Set<String>] = [:]
        for series in pages.flatMap(\.samples.keys) {
            guard let match = series.firstMatch(of: /^(\w+)\{/) else { continue }
            for label in series.matches(of: /(\w+)="([^"]*)"/) {
                told["\(match.1) \(label.1)", default: []].insert(String(label.2))
            }
        }
        var checked = 0
        for file in ["config/prometheus/saker.rules.yml", "config/grafana/saker.json"] {
            let text = try String(contentsOf: repository.appendingPathComponent(file), encoding: .utf8)
                .replacing("\\\"", with: "\"")
            for selector in text.matches(of: /(saker_[a-z_]+)\{([^}]*)\}/) {
                for label in selector.2.matches(of: /(state|reason)(?:=~|!~|!=|=)"([^"]*)"/) {
                    let known = told["\(selector.1) \(label.1)"] ?? []
                    for value in label.2.split(separator: "|") {
                        #expect(known.contains(String(value)), "\(file): \(selector.0)")
                        checked += 1
                    }
                }
            }
        }
        #expect(checked >= 20, "the selectors were not found")
    }

    private func rejectsWhatIsNoScrape(_ port: Int) throws {
        func status(_ arguments: String...) throws -> String {
            try Program.run(
                "/usr/bin/curl",
                ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--max-time", "20"] + arguments
            ).output
        }
        let base = "http://127.0.0.1:\(port)"
        #expect(try status(base + "/") == "404")
        #expect(try status("--data", "x=1", base + "/metrics") == "405")
        #expect(try status("--header", "X: " + String(repeating: "a", count: 9000), base + "/metrics") == "431")
        #expect(try status("--insecure", "https://127.0.0.1:\(port)/metrics") == "000")
        #expect(try status(base + "/metrics") == "200")
    }

    /// The format's own checker, where somebody has installed it: its package is a whole server, which no test needs.
    private func checkWithPromtool(_ ports: Int...) {
        guard FileManager.default.fileExists(atPath: "/usr/bin/promtool") else {
            return print("not checked with promtool, which is not installed: sudo apt install prometheus")
        }
        for port in ports {
            let command = "curl -s http://127.0.0.1:\(port)/metrics | promtool check metrics"
            let checked = try? Program.run("/bin/sh", ["-c", command])
            #expect(checked?.status == 0, "\(checked?.all ?? "")")
        }
    }

    @Test func anAgentRunsWithoutTheWaysItCannotHave() throws {
        let taken = try ListeningSocket()
        defer { taken.close() }
        let fleet = try Fleet(
            agentTables: """
                [metrics]
                textfile = "/proc/saker.prom"
                interval = 1
                listen = "127.0.0.1:\(taken.port)"
                """)
        let agent = try fleet.startAgent()
        try waitUntil("the failures are told", within: 300) {
            agent.printed.contains("Metrics cannot be listened for") && agent.printed.contains("/proc/saker.prom")
        }
        #expect(try fleet.saker(["status"]).output.contains("not tracked"))
        #expect(agent.end(SIGTERM) == 0)
    }

    @Test func aServerWhoseAddressIsTakenServesAndSaysSo() throws {
        let taken = try ListeningSocket()
        defer { taken.close() }
        let fleet = try Fleet()
        try edit(
            fleet.server + "/server.toml", [("# listen = \"127.0.0.1:9443\"", "listen = \"127.0.0.1:\(taken.port)\"")])
        let server = try fleet.startServer()
        try waitUntil("the failure is told", within: 300) {
            server.printed.contains("[metrics] listen: 127.0.0.1:\(taken.port) cannot be listened on")
        }
        #expect(server.end(SIGTERM) == 0)
    }
}
