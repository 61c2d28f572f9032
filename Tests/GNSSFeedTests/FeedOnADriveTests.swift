import AgentLogic
import DriveSimulation
import Foundation
import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import GNSSFeed

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
