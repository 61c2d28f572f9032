import AgentControl
import Diagnosing
import JSON
import Testing
import Varlink

@testable import SakerCommand

/// The verdicts as functions of the facts.
@Suite struct DiagnosisTests {
    init() {
        _ = LocalTime.isUTC
    }

    @Test(
        arguments: agentCases + configurationCases + receiverCases + clockCases + serverCases + storageCases
            + fenceCases)
    func aVerdictFollowsFromTheFacts(_ given: Case) throws {
        let diagnosis = Diagnosis(given.facts)
        let check = try #require(diagnosis.checks.first { $0.name == given.name })
        #expect(check.verdict == given.verdict, "\(check)")
        #expect(given.found.isEmpty || check.found.contains(given.found), "\(check)")
        #expect(given.remedy.isEmpty || check.remedy?.contains(given.remedy) == true, "\(check)")
        // Who is told of a failure is told what to do.
        #expect(diagnosis.checks.allSatisfy { $0.verdict != .failed || $0.remedy != nil })
        let expected: Int32 =
            given.facts.status == nil ? 3 : diagnosis.checks.contains { $0.verdict == .failed } ? 1 : 0
        #expect(diagnosis.exitCode == expected)
    }

    @Test func aHealthyBoxPassesEveryCheckOnce() {
        let diagnosis = Diagnosis(.healthy)
        #expect(
            diagnosis.checks.map(\.name)
                == Check.Name.allCases.sorted { left, right in
                    order(left, diagnosis) < order(right, diagnosis)
                })
        #expect(diagnosis.checks.filter { $0.verdict != .ok } == [])
        #expect(diagnosis.exitCode == 0)
        #expect(diagnosis.lines.last == "19 ok. Nothing keeps this vehicle from being tracked.")
        #expect(diagnosis.json["failed"] == 0 && diagnosis.json["checks"]?.arrayValue?.count == 19)
    }

    private func order(_ name: Check.Name, _ diagnosis: Diagnosis) -> Int {
        diagnosis.checks.firstIndex { $0.name == name } ?? .max
    }

    @Test func aFailureIsShownWithItsRemedyBelow() throws {
        let lines = Diagnosis(Self.gpsd(.unreachable("Connection\u{1B} refused"))).lines
        let index = try #require(lines.firstIndex { $0.hasPrefix("FAILED       gpsd           gpsd does not answer") })
        #expect(lines[index].hasSuffix("(Connection? refused)"))
        #expect(lines[index + 1].hasPrefix("             -> Start it: sudo systemctl enable"))
        #expect(lines[index + 2].hasPrefix("not checked  device         gpsd does not answer"))
        #expect(lines.last?.contains("1 failed") == true)
    }

    /// Every finding at 80 columns: no line is wider unless one word is, and no word is lost.
    @Test(
        arguments: agentCases + configurationCases + receiverCases + clockCases + serverCases + storageCases
            + fenceCases)
    func theDoctorFitsTheTerminal(_ given: Case) {
        let diagnosis = Diagnosis(given.facts)
        let lines = diagnosis.lines(width: 80)
        #expect(lines.allSatisfy { $0.count <= 80 || $0.split(separator: " ").count <= 2 }, "\(lines)")
        #expect(
            lines.joined(separator: " ").split(separator: " ")
                == diagnosis.lines.joined(separator: " ").split(separator: " "))
    }
}
