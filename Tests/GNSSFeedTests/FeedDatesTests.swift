import AgentLogic
import Foundation
import ProgramTestKit
import Testing
import TrackModel

@testable import GNSSFeed

/// What a real gpsd makes of receivers with a wrong date and without any, and what gathering makes of that.
@Suite(.needs(.gpsd), .timeLimit(.minutes(5)))
struct FeedDatesTests {
    /// The reports of a receiver that sends these sentences, until gpsd has told so many places.
    private func reports(of sentences: [String], places: Int) async throws -> [GNSSReport] {
        let receiver = try SimulatedReceiver()
        let gpsd = try RealGPSD(sources: [receiver.source])
        let log = EventLog()
        let feed = try GNSSFeed(configuration: FeedConfiguration(host: "127.0.0.1", port: gpsd.port)) { log.add($0) }
        try feed.start()
        let connection = try #require(try await receiver.opened())
        #expect(await log.wait(for: \.hasReceiver))
        try await onThread {
            for sentence in sentences {
                guard connection.send(sentence) else { return }
                usleep(30_000)
            }
        }
        #expect(
            await log.wait { events in
                places <= events.count { if case .report(let report) = $0 { report.mode >= 2 } else { false } }
            })
        feed.stop()
        #expect(await log.wait { $0.last == .state(.stopped) })
        return log.reports
    }

    /// The points that are made when an epoch comes each second. Nobody waits for these seconds.
    private func points(_ reports: [GNSSReport], isKept: Bool) -> (points: [Fix], counters: SamplerCounters) {
        var (assembler, time, sampler) = (EpochAssembler(), TimeGuard(), Sampler(interval: 2))
        var (points, now): ([Fix], MonotonicTime) = ([], MonotonicTime(milliseconds: 0))
        var epoch: Timestamp?
        for report in reports {
            if report.time == nil || report.time != epoch { now += 1000 }
            epoch = report.time
            let reading = ClockReading(
                now: now, system: Timestamp(milliseconds: 1_800_000_000_000 + now.milliseconds), isKept: isKept)
            guard let found = assembler.report(report, at: reading) else { continue }
            switch time.judge(found) {
            case .dated(let fix, let beginsAnew):
                if beginsAnew { sampler.beginAnew() }
                if case .point(let point) = sampler.fix(fix) { points.append(point) }
            case .notLater: _ = sampler.skip(.notLater)
            case .unconfirmed: _ = sampler.skip(.unconfirmedTime)
            case .withoutTime: _ = sampler.skip(.withoutTime)
            }
        }
        return (points, sampler.counters)
    }

    /// A firmware of 2016 has passed the end of its weeks; gpsd corrects its date in its own way. Then satellites tell the right
    /// one: of today, or of a recording that is older than this program.
    @Test(arguments: ["261126", "150326"]) func aWrongDateThatTheReceiverCorrectsSilencesNobody(date: String)
        async throws
    {
        let wrong = (0..<15).map { NMEA.epoch(43_200 + $0, date: "151116") }
        let right = (15..<60).map { NMEA.epoch(43_200 + $0, date: date) }
        let reports = try await reports(of: wrong + right, places: 45)
        let day = { (time: Timestamp) in time.seconds / 86_400 }
        let days = Set(reports.compactMap { $0.mode >= 2 ? $0.time.map(day) : nil })
        try #require(days.count >= 2, "gpsd gave one date to all: \(days)")
        let last = try #require(reports.last?.time)
        let (points, counters) = points(reports, isKept: false)
        let made = points.filter { day($0.time) == day(last) }
        // The confirmation takes four seconds.
        #expect(made.count >= 15, "\(made.count) of \(points.count), \(counters)")
        #expect(zip(made, made.dropFirst()).allSatisfy { $0.time < $1.time })
    }

    @Test func aReceiverWithGGAAndGSAAloneTellsNoTime() async throws {
        let reports = try await reports(of: (0..<30).map { NMEA.epoch(43_200 + $0, date: nil) }, places: 15)
        let places = reports.filter { $0.mode >= 2 }
        #expect(places.allSatisfy { $0.time == nil && $0.latitude != nil })
        let unkept = points(reports, isKept: false)
        #expect(unkept.points.isEmpty && unkept.counters.withoutTime >= 10)
        let kept = points(reports, isKept: true)
        #expect(kept.points.count >= 5 && kept.points.allSatisfy(\.isClockTime))
    }
}
