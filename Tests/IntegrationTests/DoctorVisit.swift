import Foundation
import ProgramTestKit
import Testing

/// One run of `saker doctor` on a vehicle, and what it said.
struct DoctorVisit {
    let status: Int32
    let text: String
    let checks: [String: (verdict: String, found: String, remedy: String)]

    init(_ fleet: Fleet) throws {
        let (begin, lateness) = (ContinuousClock.now, Lateness())
        let result = try fleet.saker(["doctor", "--config", fleet.agent + "/agent.toml", "--json"])
        // Its own ends come to 15 s. A loaded machine adds its lateness, and the work of the programs, which no sleeper sees: so
        // the bound is many times as long, for a doctor that waits for what never comes.
        let (taken, late) = (ContinuousClock.now - begin, Duration.milliseconds(lateness.end()))
        #expect(taken < .seconds(120) + late, "it took \(taken), and the machine was \(late) late")
        let object = try require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], result.all)
        let list = try require(object["checks"] as? [[String: String]], result.all)
        checks = Dictionary(
            uniqueKeysWithValues: list.map {
                ($0["name"] ?? "", ($0["verdict"] ?? "", $0["found"] ?? "", $0["remedy"] ?? ""))
            })
        #expect(checks.count == 19)
        let key = try String(contentsOfFile: fleet.agent + "/credentials/ak", encoding: .utf8)
        #expect(!result.all.contains(key.trimmingCharacters(in: .whitespacesAndNewlines)), "a secret is shown")
        status = result.status
        text = result.all
    }

    func verdict(_ name: String) -> String { checks[name]?.verdict ?? "missing" }
    func found(_ name: String) -> String { checks[name]?.found ?? "" }
    func remedy(_ name: String) -> String { checks[name]?.remedy ?? "" }
    var failed: [String] { checks.filter { $0.value.verdict == "failed" }.map(\.key).sorted() }

    /// What a check must say: its verdict, and parts of what it found and of its remedy.
    func expect(
        _ name: String, _ verdict: String, _ found: String, remedy: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.verdict(name) == verdict, "\(text)", sourceLocation: sourceLocation)
        #expect(self.found(name).contains(found), "\(text)", sourceLocation: sourceLocation)
        #expect(self.remedy(name).contains(remedy), "\(text)", sourceLocation: sourceLocation)
    }
}
