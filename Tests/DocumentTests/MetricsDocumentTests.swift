import Foundation
import MetricsText
import Testing

@testable import AgentRuntime
@testable import ServerRuntime

/// docs/metrics.md, the alerts and the dashboard beside the metrics that there are.
@Suite struct MetricsDocumentTests {
    private static let all = AgentMetrics.all + ServerMetrics.all

    @Test func namesFollowTheConventions() {
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
        for metric in Self.all {
            let name = metric.name
            #expect(name.wholeMatch(of: /saker_(agent|server)_[a-z0-9]+(_[a-z0-9]+)*/) != nil, "\(name)")
            #expect(name.hasSuffix("_total") == (metric.kind == .counter), "\(name) is a \(metric.kind)")
            for unit in ["_milliseconds", "_ms", "_kilobytes", "_percent", "_minutes", "_count", "_sum", "_bucket"] {
                #expect(!name.hasSuffix(unit), "\(name): base units, and no suffix that histograms use")
            }
            #expect(metric.kind != .histogram || metric.unit == "seconds", "\(name)")
            #expect(metric.help.hasSuffix(".") && !metric.help.contains("|"), "\(name): \(metric.help)")
            let known: Set = ["version", "state", "reason", "via", "call", "status", "action"]
            #expect(known.isSuperset(of: metric.labels), "\(name)")
        }
    }

    @Test func theDocumentListsExactlyTheMetricsThereAre() throws {
        let rows = try Repository.text("docs/metrics.md").split(separator: "\n").filter { $0.hasPrefix("| `saker_") }
            .map(String.init)
        let expected = Self.all.map { metric in
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ") + (metric.labels.isEmpty ? "" : " ")
            return "| `\(metric.name)` | \(metric.kind.rawValue) | \(metric.unit) | \(labels)| \(metric.help) |"
        }
        for row in expected where !rows.contains(row) {
            Issue.record("docs/metrics.md lacks this row, or has another of this name:\n\(row)")
        }
        for row in rows where !expected.contains(row) {
            Issue.record("docs/metrics.md has a row that the code does not:\n\(row)")
        }
        #expect(rows == expected, "the order is that of the code")
    }

    /// Names of metrics in a query, with those of histograms made whole.
    private func metrics(in text: String) -> Set<String> {
        var found: Set<String> = []
        for match in text.matches(of: /[a-z]+_[a-z0-9_]+/) {
            let name = String(match.output)
            guard name.hasPrefix("saker_") || name.hasPrefix("node_") else { continue }
            let suffix = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) }
            let base = suffix.map { String(name.dropLast($0.count)) }
            let isHistogram = Self.all.contains { $0.name == base && $0.kind == .histogram }
            found.insert(isHistogram ? base ?? name : name)
        }
        return found
    }

    /// Of other programs: node_exporter tells how old a text file is.
    private static let foreign: Set = ["node_textfile_mtime_seconds"]

    @Test(arguments: ["config/prometheus/saker.rules.yml", "config/grafana/saker.json"])
    func theExamplesUseMetricsThatThereAre(file: String) throws {
        let used = metrics(in: try Repository.text(file))
        #expect(used.count > 10, "the names were not found in \(file)")
        let known = Set(Self.all.map(\.name)).union(Self.foreign)
        #expect(used.subtracting(known) == [], "\(file) uses what nobody tells")
    }

    /// What is lost, or cannot be read, must not wait for somebody who looks at the dashboard.
    @Test(arguments: [
        "saker_agent_points_lost_total", "saker_server_batches_rewound_total",
        "saker_server_api_incomplete_readings_total",
    ])
    func aLossHasACriticalAlert(metric: String) throws {
        let rules = try Repository.text("config/prometheus/saker.rules.yml").split(separator: "- alert: ").dropFirst()
        let alert = try #require(rules.first { metrics(in: String($0)).contains(metric) }, "no alert for \(metric)")
        #expect(alert.contains("labels: {severity: critical}"))
        #expect(alert.contains(/increase\(saker_[a-z_]+\[1h\]\)\)? > 0/))
    }

    /// Each label that a query of the examples selects by or groups by is one of its metric.
    @Test(arguments: ["config/prometheus/saker.rules.yml", "config/grafana/saker.json"])
    func theExamplesSelectByLabelsThatThereAre(file: String) throws {
        let text = try Repository.text(file).replacing("\\\"", with: "\"")
        let labels = Dictionary(uniqueKeysWithValues: Self.all.map { ($0.name, Set($0.labels)) })
        for match in text.matches(of: /(saker_[a-z0-9_]+)\{([^}]*)\}/) {
            let name = metrics(in: String(match.1)).first ?? ""
            for selector in match.2.matches(of: /([a-z]+)(=~|!=|!~|=)/) where selector.1 != "instance" {
                #expect(labels[name]?.contains(String(selector.1)) == true, "\(file): \(match.0)")
            }
        }
    }

    @Test func theDashboardIsJSONWithoutDoubleNumbers() throws {
        let json = try JSONSerialization.jsonObject(with: Data(try Repository.text("config/grafana/saker.json").utf8))
        let panels = try #require((json as? [String: Any])?["panels"] as? [[String: Any]])
        let numbers = panels.compactMap { $0["id"] as? Int }
        #expect(panels.count > 15 && Set(numbers).count == panels.count)
        for panel in panels where panel["type"] as? String != "row" {
            #expect((panel["targets"] as? [Any])?.isEmpty == false, "\(panel["title"] ?? "")")
        }
    }
}
