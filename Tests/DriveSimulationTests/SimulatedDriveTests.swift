import Geodesy
import Testing
import TrackModel

@testable import DriveSimulation

struct SimulatedDriveTests {
    /// 2026-03-15T07:59:50Z
    private let start = Timestamp(milliseconds: 1_773_561_590_000)

    private func drive(
        seed: UInt64 = 1, rate: Int = 1, tunnels: [ClosedRange<Double>] = [], start: Timestamp? = nil
    ) throws -> SimulatedDrive {
        let settings = DriveSettings(seed: seed, tunnels: tunnels)
        return try #require(
            SimulatedDrive(route: try Route.cityLoop(), settings: settings, start: start ?? self.start, rate: rate))
    }

    private func epochs(_ drive: SimulatedDrive, _ count: Int) -> [SimulatedDrive.Epoch] {
        var drive = drive
        return (0..<count).map { _ in drive.next() }
    }

    @Test func theSameSeedGivesTheSameDrive() throws {
        let first = epochs(try drive(seed: 7, tunnels: [Route.cityLoopTunnel]), 900)
        let second = epochs(try drive(seed: 7, tunnels: [Route.cityLoopTunnel]), 900)
        #expect(first.map(\.sentences) == second.map(\.sentences))
        #expect(first.map(\.truthRow) == second.map(\.truthRow))
        let other = epochs(try drive(seed: 8, tunnels: [Route.cityLoopTunnel]), 900)
        #expect(first.map(\.sentences) != other.map(\.sentences))
    }

    @Test(arguments: SimulatedDrive.rates) func epochsAreExactlySpaced(rate: Int) throws {
        let times = epochs(try drive(rate: rate), 100).map(\.time.milliseconds)
        #expect(times == (0..<100).map { start.milliseconds + $0 * 1000 / Int64(rate) })
        #expect(SimulatedDrive(route: try Route.cityLoop(), settings: DriveSettings(), start: start, rate: 3) == nil)
    }

    @Test func aFasterRateIsTheSameDriveMoreClosely() throws {
        let slow = epochs(try drive(rate: 1), 60).map(\.truth)
        let fast = epochs(try drive(rate: 10), 600).map(\.truth)
        #expect(slow == (0..<60).map { fast[$0 * 10] })
    }

    @Test(arguments: [UInt64(1), 2, 3]) func errorsAreThoseOfAReceiver(seed: UInt64) throws {
        let errors = epochs(try drive(seed: seed), 3600).compactMap { epoch in
            epoch.observation.solution.map {
                GreatCircle.distance(from: epoch.truth.position, to: $0.position)
            }
        }
        #expect(errors.count == 3598)
        #expect(errors.allSatisfy { $0 < ReceiverModel.largestError })
        let mean = errors.reduce(0, +) / Double(errors.count)
        #expect((0.8...4).contains(mean))
        // Slow: from one second to the next the error hardly changes, although it is large.
        let steps = zip(errors, errors.dropFirst()).map { abs($0 - $1) }
        #expect(steps.reduce(0, +) / Double(steps.count) < mean / 3)
    }

    @Test func aTunnelHasNoFixAndTheWayOutIsRough() throws {
        let all = epochs(try drive(tunnels: [Route.cityLoopTunnel]), 1500)
        let inside = all.filter(\.truth.isInTunnel)
        #expect(inside.count > 15)
        #expect(inside.allSatisfy { $0.observation.solution == nil })
        #expect(inside.allSatisfy { $0.sentences.contains(",V,") && $0.sentences.contains("GPGSA,A,1,") })
        let out = try #require(all.lastIndex { $0.truth.isInTunnel })
        let after = all[(out + 1)...].prefix(60)
        let first = try #require(after.firstIndex { $0.observation.solution != nil })
        #expect((1...5).contains(first - out))
        let solution = try #require(all[first].observation.solution)
        #expect(GreatCircle.distance(from: all[first].truth.position, to: solution.position) > 4)
        #expect(solution.horizontalDilution > 1.5)
    }

    @Test func everySentenceHasAValidChecksum() throws {
        for epoch in epochs(try drive(rate: 10, tunnels: [Route.cityLoopTunnel]), 3000) {
            let sentences = epoch.sentences.split(separator: "\r\n", omittingEmptySubsequences: false)
            #expect(sentences.last == "")
            for sentence in sentences.dropLast() {
                #expect(sentence.utf8.count <= 80)
                let parts = sentence.dropFirst().split(separator: "*")
                let checksum = parts[0].utf8.reduce(UInt8(0), ^)
                #expect(parts.count == 2 && UInt8(parts[1], radix: 16) == checksum)
            }
        }
    }

    @Test(arguments: [
        (Int64(0), "000000.00", "010170"), (951_782_400_000, "000000.00", "290200"),
        (1_709_251_199_900, "235959.90", "290224"), (1_773_561_590_000, "075950.00", "150326"),
        (4_102_444_799_990, "235959.99", "311299"),
    ]) func timesAreWrittenAsTheSentencesWantThem(time: (milliseconds: Int64, time: String, date: String)) throws {
        let sentences = NMEASentences.epoch(
            Observation(solution: nil, satellites: []), at: Timestamp(milliseconds: time.milliseconds))
        #expect(sentences.contains("$GPRMC,\(time.time),V,,,,,,,\(time.date),,,N*"))
    }

    @Test func placesAreWrittenInDegreesAndMinutes() {
        func gga(_ latitude: Double, _ longitude: Double) -> Substring? {
            let solution = Observation.Solution(
                position: Degrees(latitude: latitude, longitude: longitude), altitude: -3.25, speed: 0, course: nil,
                horizontalDilution: 1, verticalDilution: 2)
            return NMEASentences.epoch(Observation(solution: solution, satellites: []), at: start)
                .split(separator: "\r\n").first { $0.hasPrefix("$GPGGA") }
        }
        #expect(
            gga(52.5, -4.25)?.hasPrefix("$GPGGA,075950.00,5230.000000,N,00415.000000,W,1,00,1.00,-3.3,M,45.0,M,,*")
                == true)
        // Not 59 minutes and 60 seconds.
        #expect(gga(-0.999_999_999_9, 179.999_999_999_9)?.contains(",0100.000000,S,18000.000000,E,") == true)
    }
}
