import Foundation
import ProgramTestKit
import Testing

/// Receivers that people recorded, through a real gpsd: what is stored is what had to be chosen from what gpsd told a
/// second, independent client.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python, .allRecordings)) struct RecordedReceiverTests {
    @Test func everyRecordingIsPlayed() {
        #expect(RecordedReceiver.all.map(\.name) == Recordings.receivers)
    }

    @Test(arguments: RecordedReceiver.all)
    func theStoredTrackIsWhatTheSamplerHadToChoose(receiver: RecordedReceiver) throws {
        let pieces = try receiver.pieces()
        let fleet = try Fleet()
        let source = try ReceiverSource(pieces: pieces, pause: 0.01)
        defer { source.end() }
        let gpsd = try fleet.startGPSD(source: source.address)
        let server = try fleet.startServer()
        let witness = try GPSDObserver(port: fleet.gpsdPort)
        let agent = try fleet.startAgent()
        try waitUntil("the agent is online", within: 300) { try fleet.linkState() == "online" }
        try waitUntil("the feed is there", within: 300) { try feedState(fleet) == "no_fix" }
        source.resume()
        try waitUntil("the recording is sent", within: 300) { source.sent == pieces.count }
        try waitUntil("its last epoch is told", within: 300) {
            witness.reports().last.map { $0.time % 86_400_000 == receiver.lastTimeOfDay } ?? false
        }
        // What gpsd says last, to both of its clients.
        try fleet.unplug(source.address)
        try waitUntil("the receiver is gone", within: 300) {
            try witness.hasLostReceiver && feedState(fleet) == "no_device"
        }
        #expect(try fleet.saker(["service", "stop"]).status == 0)

        let epochs = Self.epochs(witness.reports())
        let chosen = Self.choose(epochs)
        let first = try #require(chosen.first)
        let counters = try #require(try fleet.status()["counters"] as? [String: Any])
        // gpsd takes the number of a week for one of the future: the server refuses what is dated ahead of its clock.
        let isAhead = first.time > Int(Date().timeIntervalSince1970 * 1000) + 600_000
        let kept = isAhead ? [] : chosen
        let lost = counters["lost"] as? [String: Int]
        #expect((lost?["wrong_date"] ?? 0) == chosen.count - kept.count, "\(counters)")
        let stored = try fleet.track(around: first.time / 1000)
        #expect(stored.map(\.time) == kept.map { $0.time / 1000 })
        #expect(try fleet.rows() == kept.count)
        for (point, fix) in zip(stored, kept) {
            #expect(abs(point.latitude - fix.latitude) < 1e-6 && abs(point.longitude - fix.longitude) < 1e-6)
        }

        #expect(witness.drivers() == [receiver.driver])
        #expect(receiver.epochs.contains(epochs.count), "\(epochs.count)")
        #expect(receiver.points.contains(chosen.count), "\(chosen.count)")
        #expect(receiver.spread.contains(Self.spread(chosen)), "\(Self.spread(chosen))")
        let skipped = try #require(counters["skipped"] as? [String: Int])
        #expect(receiver.unconfirmed.contains(skipped["unconfirmed_time"] ?? 0), "\(skipped)")
        #expect(receiver.notLater.contains(skipped["not_later"] ?? 0), "\(skipped)")
        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        server.end(SIGTERM)
        gpsd.end(SIGKILL)
    }

    private func feedState(_ fleet: Fleet) throws -> String? {
        (try fleet.status()["feed"] as? [String: Any])?["state"] as? String
    }

    // MARK: The rules once more, written for the test alone

    /// The most complete report of each epoch.
    static func epochs(_ reports: [GPSDObserver.Report]) -> [GPSDObserver.Report] {
        var epochs: [GPSDObserver.Report] = []
        for report in reports {
            guard let last = epochs.last, abs(last.time - report.time) <= 1 else {
                epochs.append(report)
                continue
            }
            if (report.mode, report.details) >= (last.mode, last.details) { epochs[epochs.count - 1] = report }
        }
        return epochs
    }

    /// The first epoch at or after each due time of a grid of two seconds. Time never goes back. A date more than ten
    /// minutes ahead counts from the fifth epoch in a row that continues it.
    static func choose(_ epochs: [GPSDObserver.Report]) -> [GPSDObserver.Report] {
        guard let origin = epochs.first?.time else { return [] }
        var due = origin
        var newest = Int.min
        var trusted = origin
        var ahead: [Int] = []
        return epochs.filter { epoch in
            guard epoch.time > newest else {
                ahead = []
                return false
            }
            if epoch.time - trusted > 600_000 {
                let continues = ahead.last.map { (1...60_000).contains(epoch.time - $0) } ?? false
                ahead = (continues ? ahead : []) + [epoch.time]
                guard ahead.count >= 5 else { return false }
            }
            ahead = []
            trusted = epoch.time
            guard epoch.time + 50 >= due else { return false }
            due = origin + ((epoch.time + 50 - origin) / 2000 + 1) * 2000
            newest = epoch.time
            return true
        }
    }

    /// Metres between the outermost latitudes and longitudes.
    static func spread(_ points: [GPSDObserver.Report]) -> Double {
        func width(_ values: [Double]) -> Double { (values.max() ?? 0) - (values.min() ?? 0) }
        let scale = cos((points.first?.latitude ?? 0) * .pi / 180)
        let north = width(points.map(\.latitude)) * 111_195
        let east = width(points.map(\.longitude)) * 111_195 * scale
        return (north * north + east * east).squareRoot()
    }
}
