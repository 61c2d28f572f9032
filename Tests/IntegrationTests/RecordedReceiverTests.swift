import Foundation
import ProgramTestKit
import Testing

/// A receiver that somebody really drove with, through a real gpsd: what is stored is what had to be chosen from what
/// gpsd told a second, independent client.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RecordedReceiverTests {
    private static let folder = (RecordedInput.folder ?? "") + "/receivers"

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: folder + "/haicom-305N.log"),
            "the recorded receivers are not beside the repository"), arguments: ["haicom-305N.log"])
    func theStoredTrackIsWhatTheSamplerHadToChoose(log: String) throws {
        let text = try String(contentsOfFile: Self.folder + "/" + log, encoding: .isoLatin1)
        let lines = text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("$") }.map { String($0) + "\r\n" }
        let fleet = try Fleet()
        let source = try ReceiverSource(epochs: lines, pause: 0.01)
        let gpsd = try fleet.startGPSD(source: source.address)
        let server = try fleet.startServer()
        let witness = try GPSDWitness(port: fleet.gpsdPort)
        let agent = try fleet.startAgent()
        try waitUntil("the agent is online", within: 20) { try fleet.linkState() == "online" }
        try waitUntil("the feed is there", within: 20) {
            ((try fleet.status()["feed"] as? [String: Any])?["state"] as? String) == "no_fix"
        }
        source.resume()
        try waitUntil("the log is sent", within: 60) { source.sent == lines.count }
        let expected = { try Self.choose(witness.reports()) }
        try waitUntil("everything is gathered", within: 15, orElse: { true }) {
            let count = try expected().count
            let gathered = try fleet.counter("gathered")
            return count > 0 && gathered >= count
        }
        #expect(try fleet.saker(["service", "stop"]).status == 0)
        let chosen = try expected()
        let first = try #require(chosen.first)
        let stored = try fleet.track(around: first.time / 1000)
        #expect(chosen.count > 20)
        #expect(stored.map(\.time) == chosen.map { $0.time / 1000 })
        #expect(try fleet.rows() == chosen.count)
        for (point, fix) in zip(stored, chosen) {
            #expect(abs(point.latitude - fix.latitude) < 1e-6 && abs(point.longitude - fix.longitude) < 1e-6)
        }
        agent.end(SIGTERM)
        server.end(SIGTERM)
        gpsd.end(SIGKILL)
        source.end()
    }

    /// The rule once more, written for the test alone: the most complete report of each epoch, then the first at or
    /// after each due time of a 2 s grid.
    static func choose(_ reports: [GPSDWitness.Report]) throws -> [GPSDWitness.Report] {
        var epochs: [GPSDWitness.Report] = []
        for report in reports {
            guard let last = epochs.last, abs(last.time - report.time) <= 1 else {
                epochs.append(report)
                continue
            }
            if (report.mode, report.details) >= (last.mode, last.details) { epochs[epochs.count - 1] = report }
        }
        guard let origin = epochs.first?.time else { return [] }
        var due = origin
        var newest = Int.min
        return epochs.filter { epoch in
            guard epoch.time > newest, epoch.time + 50 >= due else { return false }
            due = origin + ((epoch.time + 50 - origin) / 2000 + 1) * 2000
            newest = epoch.time
            return true
        }
    }
}
