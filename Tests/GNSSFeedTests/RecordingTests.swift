import DriveSimulation
import Foundation
import Geodesy
import ProgramTestKit
import Testing
import TrackModel
import TrackWire

@testable import AgentLogic
@testable import GNSSFeed

/// What parking saves on recorded receivers that stood still, and leaves alone on all others, through a real gpsd.
@Suite(.needs(.gpsd, .allRecordings), .timeLimit(.minutes(5)))
struct ParkedRecordingTests {
    /// The fixes that the agent makes of a recording.
    private func fixes(of recording: String) async throws -> [Fix] {
        let bytes = try Recordings.receiver(recording)
        let receiver = try SimulatedReceiver()
        let gpsd = try RealGPSD(sources: [receiver.source])
        let connection = try #require(try await receiver.opened())
        let log = EventLog()
        let feed = try GNSSFeed(
            configuration: FeedConfiguration(host: "127.0.0.1", port: gpsd.port, device: receiver.source)
        ) { log.add($0) }
        try feed.start()
        #expect(await log.wait(for: \.hasReceiver))
        try await onThread { connection.play(bytes) }
        #expect(try gpsd.control("-" + receiver.source))
        #expect(await log.wait(for: \.isNoDevice))
        feed.stop()
        #expect(await log.wait { $0.last == .state(.stopped) })
        var assembler = EpochAssembler()
        let reading = ClockReading(
            now: MonotonicTime(milliseconds: 0), system: Timestamp(milliseconds: 0), isKept: false)
        var fixes = log.reports.compactMap { assembler.report($0, at: reading)?.fix }
        if let last = assembler.flush() { fixes.append(last.fix) }
        return fixes
    }

    private struct Outcome {
        var points: [TrackPoint] = []
        var withheld: UInt64 = 0
        var metres: Double {
            zip(points.dropFirst(), points).reduce(0) { $0 + PlausibilityGate.distance($1.0.fix, $1.1.fix) }
        }
        /// As they go on the wire live: batches of one pack interval of 30 s, or what it holds while parked.
        func bytes(gather: Int) -> Int {
            let batch = max(1, 30 / gather)
            return stride(from: 0, to: points.count, by: batch).reduce(0) {
                $0 + BatchCodec.encode(Array(points[$1..<min($1 + batch, points.count)])).bytes.count
            }
        }
    }

    private func sampled(_ fixes: [Fix], gather: Int, _ parking: ParkingOptions?) -> Outcome {
        var sampler = Sampler(interval: gather, options: LocationOptions(parking: parking))
        var outcome = Outcome()
        for fix in fixes {
            switch sampler.fix(fix) {
            case .point(let fix): outcome.points.append(TrackPoint(fix))
            case .parked(let fix): outcome.points.append(TrackPoint(fix, isParked: true))
            case .departed(let fixes): outcome.points += fixes.map { TrackPoint($0) }
            case .notDue, .skipped: break
            }
        }
        outcome.withheld = sampler.counters.parked
        return outcome
    }

    /// A recording without its start, over and over: to and fro, so that its end meets its beginning.
    private func lengthened(_ fixes: [Fix], without start: Int, hours: Int64) -> [Fix] {
        guard let first = fixes.first else { return [] }
        let settled = Array(fixes.dropFirst(start))
        let round = settled + settled.reversed()
        return (0..<hours * 3600).map { second in
            var fix = round[Int(second) % round.count]
            fix.time = first.time.adding(milliseconds: second * 1000)
            return fix
        }
    }

    /// `start`: seconds in which the receiver finds its place, 50 m off at first.
    @Test(arguments: [("sirf2.log", 308), ("ublox-glo.log", 0)])
    func aParkedReceiverMakesFewPointsAndNoDistance(recording: String, start: Int) async throws {
        let fixes = try await fixes(of: recording)
        #expect(fixes.count > 200)
        for gather in [2, 5] {
            let before = sampled(fixes, gather: gather, nil)
            let after = sampled(fixes, gather: gather, ParkingOptions(delay: 120, interval: 60))
            report(
                "\(recording), \(fixes.count) s, gather \(gather) s, delay 120 s, interval 60 s", before, after, gather)
            #expect(after.points.count < before.points.count)
            let parked = after.points.drop { !$0.isParked }
            #expect(!parked.isEmpty && parked.allSatisfy { $0.isParked })
            #expect(Set(parked.map(\.fix.coordinate)).count == 1)
            #expect(after.metres <= before.metres)
        }
        let night = lengthened(fixes, without: start, hours: 12)
        let before = sampled(night, gather: 5, nil)
        let after = sampled(night, gather: 5, ParkingOptions(delay: 300))
        report("\(recording), 12 h, gather 5 s, delay 300 s, interval 240 s", before, after, 5)
        #expect(after.points.count * 30 < before.points.count)
        #expect(after.points.drop { !$0.isParked }.allSatisfy { $0.isParked })
    }

    /// They move, or stand for seconds only. The wrong dates of bt451.log are no time in which it stands.
    @Test(arguments: [("bt451.log", 2), ("haicom-305N.log", 30), ("beidou-bd.log", 2)])
    func aReceiverThatDoesNotParkLosesNoPoint(recording: String, points: Int) async throws {
        let fixes = try await fixes(of: recording)
        let before = sampled(fixes, gather: 2, nil)
        let after = sampled(fixes, gather: 2, ParkingOptions(delay: 60, interval: 60))
        #expect(before.points == after.points)
        #expect(before.points.count >= points)
    }

    private func report(_ what: String, _ before: Outcome, _ after: Outcome, _ gather: Int) {
        func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
        print(
            "parking: \(what): points \(before.points.count) -> \(after.points.count), payload bytes "
                + "\(before.bytes(gather: gather)) -> \(after.bytes(gather: gather)), metres "
                + "\(rounded(before.metres)) -> \(rounded(after.metres)), withheld \(after.withheld)")
    }
}

/// From the simulated receiver through a real gpsd and libgps to a report.
@Suite(.needs(.gpsd), .timeLimit(.minutes(5)))
struct FeedOnADriveTests {
    @Test func reportsLieWithinTheNoiseOfTheTruth() async throws {
        let receiver = try SimulatedReceiver()
        let gpsd = try RealGPSD(sources: [receiver.source])
        let log = EventLog()
        let feed = try GNSSFeed(configuration: FeedConfiguration(host: "127.0.0.1", port: gpsd.port)) { log.add($0) }
        try feed.start()
        #expect(await log.wait(for: \.hasReceiver))
        let connection = try #require(try await receiver.opened())

        // Four minutes of driving, the tunnel included, told faster than they pass.
        let start = Timestamp(seconds: Int64(Date.now.timeIntervalSince1970))
        let tunnel = 300.0...500.0
        let epochs: [SimulatedDrive.Epoch] = try await onThread {
            let settings = DriveSettings(seed: 5, tunnels: [tunnel])
            guard var drive = SimulatedDrive(route: try Route.cityLoop(), settings: settings, start: start) else {
                return []
            }
            return (0..<240).map { _ in
                let epoch = drive.next()
                connection.send(epoch.sentences)
                usleep(20_000)
                return epoch
            }
        }
        let last = try #require(epochs.last)
        // gpsd holds an epoch back until the next begins.
        #expect(
            await log.wait { events in
                events.contains { event in
                    if case .report(let report) = event {
                        report.time == last.time.adding(milliseconds: -1000)
                    } else {
                        false
                    }
                }
            })
        feed.stop()
        #expect(await log.wait { $0.last == .state(.stopped) })

        let truths = Dictionary(uniqueKeysWithValues: epochs.map { ($0.time, $0) })
        var seen: Set<Timestamp> = []
        for report in log.reports where report.mode >= 2 {
            guard let time = report.time, let latitude = report.latitude, let longitude = report.longitude else {
                continue
            }
            let epoch = try #require(truths[time], "a report of a time that was not sent")
            let solution = try #require(epoch.observation.solution)
            let place = Degrees(latitude: latitude, longitude: longitude)
            #expect(GreatCircle.distance(from: place, to: solution.position) < 0.05)
            #expect(
                GreatCircle.distance(from: place, to: epoch.truth.position)
                    < ReceiverModel.largestError + ReceiverModel.recoveryError)
            if let speed = report.speed { #expect(abs(speed - epoch.truth.speed) < 0.5) }
            if let altitude = report.altitudeMSL { #expect(abs(altitude - solution.altitude) < 0.1) }
            seen.insert(time)
        }
        let fixes = epochs.filter { $0.observation.solution != nil }
        #expect(seen.count >= fixes.count - 3)
        // The tunnel was noticed, and its end.
        #expect(log.states.filter { $0 == .fix }.count >= 2)
        let complete = log.reports.filter {
            $0.mode == 3 && $0.speed != nil && $0.horizontalError != nil && $0.satellitesUsed != nil
        }
        #expect(complete.count > 150)
    }
}
