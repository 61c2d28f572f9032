import Testing
import TrackModel

@testable import AgentLogic

struct EpochAssemblerTests {
    private func report(
        _ milliseconds: Int64, mode: Int = 3, latitude: Double? = 52, speed: Double? = nil, eph: Double? = nil
    ) -> GNSSReport {
        GNSSReport(
            time: Timestamp(milliseconds: epochStart + milliseconds), mode: mode, latitude: latitude, longitude: 4,
            speed: speed, horizontalError: eph)
    }

    @Test func anEpochComesOutWithTheFirstReportOfTheNext() {
        var assembler = EpochAssembler()
        #expect(assembler.report(report(0)) == nil)
        #expect(assembler.report(report(1000))?.time.milliseconds == epochStart)
        #expect(assembler.flush()?.time.milliseconds == epochStart + 1000)
        #expect(assembler.flush() == nil)
        #expect(assembler.counters.fixes == 2)
    }

    @Test func theMostCompleteReportOfAnEpochIsTheFixAndNothingIsMixed() {
        var assembler = EpochAssembler()
        _ = assembler.report(report(0, mode: 2, speed: 1, eph: 2))
        _ = assembler.report(report(0, mode: 3, eph: 3))
        _ = assembler.report(report(1, mode: 3))
        let fix = assembler.flush()
        #expect(fix?.mode == .threeDimensional)
        #expect(fix?.accuracy == 30)
        #expect(fix?.speed == nil)
        #expect(assembler.counters.merged == 2)
    }

    @Test func ofEquallyCompleteReportsTheLaterOneCounts() {
        var assembler = EpochAssembler()
        _ = assembler.report(report(0, speed: 1))
        _ = assembler.report(report(0, speed: 2))
        #expect(assembler.flush()?.speed == 200)
    }

    @Test func whatStillComesOfAnEpochThatIsOutMakesNoSecondFix() {
        var assembler = EpochAssembler()
        _ = assembler.report(report(0))
        #expect(assembler.flush() != nil)
        _ = assembler.report(report(1, speed: 1))
        #expect(assembler.flush() == nil)
    }

    @Test func timesTwoMillisecondsApartAreTwoEpochs() {
        var assembler = EpochAssembler()
        _ = assembler.report(report(0))
        #expect(assembler.report(report(2)) != nil)
    }

    @Test func aReportThatSaysNoFixEndsTheEpoch() {
        var assembler = EpochAssembler()
        _ = assembler.report(report(0))
        #expect(assembler.report(GNSSReport(mode: 1)) != nil)
        #expect(assembler.report(GNSSReport(mode: 1)) == nil)
        #expect(assembler.counters.unusable == 2)
    }

    @Test func aReportThatSaysNothingLeavesTheEpochOpenAndOneOfAnotherTimeEndsIt() {
        var assembler = EpochAssembler()
        _ = assembler.report(report(0))
        #expect(assembler.report(GNSSReport(mode: 0)) == nil)
        #expect(assembler.report(report(0, mode: 0)) == nil)
        #expect(assembler.report(report(0, latitude: nil)) == nil)
        #expect(assembler.report(report(1000, latitude: nil)) != nil)
    }

    /// A receiver that sends GGA and GSA alone.
    @Test func reportsWithoutTimesAreEpochsByTheirArrival() {
        var assembler = EpochAssembler()
        func hear(_ now: Int64, speed: Double? = nil, time: Int64? = nil) -> Epoch? {
            assembler.report(
                GNSSReport(
                    time: time.map { Timestamp(milliseconds: epochStart + $0) }, mode: 3, latitude: 52, longitude: 4,
                    speed: speed), at: ClockReading(at: now))
        }
        #expect(hear(0) == nil)
        #expect(hear(50, speed: 7) == nil)
        let first = hear(1000)
        #expect(first?.hasTime == false && first?.time.milliseconds == epochStart && first?.speed == 700)
        #expect(hear(1100)?.time.milliseconds == epochStart + 1000)
        // With a time: from then on the others say nothing, until times have been missing for a while.
        #expect(hear(2000, time: 1900)?.time.milliseconds == epochStart + 1100)
        #expect(hear(11_999) == nil)
        #expect(assembler.flush()?.hasTime == true)
        #expect(hear(12_000) == nil)
        #expect(assembler.flush()?.hasTime == false)
        #expect(assembler.counters.unusable == 1 && assembler.counters.merged == 1)
    }

    @Test(arguments: [
        GNSSReport(mode: 3, latitude: 1, longitude: 1),
        GNSSReport(time: Timestamp(seconds: 1_700_000_000), mode: 3, longitude: 1),
        GNSSReport(time: Timestamp(seconds: 1_700_000_000), mode: 1, latitude: 1, longitude: 1),
        GNSSReport(time: Timestamp(seconds: 1_700_000_000), mode: 259, latitude: 1, longitude: 1),
        GNSSReport(time: Timestamp(seconds: 1_700_000_000), mode: -1, latitude: 1, longitude: 1),
        GNSSReport(time: Timestamp(seconds: 1_700_000_000), mode: 3, latitude: .nan, longitude: 1),
        GNSSReport(time: Timestamp(seconds: 1_700_000_000), mode: 3, latitude: 90.1, longitude: 1),
        GNSSReport(time: Timestamp(seconds: 1_700_000_000), mode: 3, latitude: 1, longitude: .infinity),
        GNSSReport(time: Timestamp(seconds: 315_964_799), mode: 3, latitude: 1, longitude: 1),
        GNSSReport(time: Timestamp(milliseconds: .max), mode: 3, latitude: 1, longitude: 1),
        GNSSReport(time: Timestamp(milliseconds: .min), mode: 3, latitude: 1, longitude: 1),
    ])
    func isNoFix(_ report: GNSSReport) {
        #expect(Fix(report) == nil)
    }

    @Test func quantitiesComeInTheUnitsOfTheWire() throws {
        let fix = try #require(
            Fix(
                GNSSReport(
                    time: Timestamp(milliseconds: epochStart), mode: 2, latitude: -33.12345678, longitude: 151.2,
                    speed: 12.346, course: 359.97, altitudeMSL: -3.26, horizontalError: 4.04, status: 2,
                    satellitesUsed: 300)))
        #expect(fix.coordinate == Coordinate(latitudeE7: -331_234_568, longitudeE7: 1_512_000_000))
        #expect(fix.speed == 1235)
        #expect(fix.course == 0)
        #expect(fix.altitude == -33)
        #expect(fix.accuracy == 40)
        #expect(fix.mode == .twoDimensional)
        #expect(fix.status == .differential)
        #expect(fix.satellites == 255)
    }

    @Test func detailsOutOfRangeAreUnknownButAHugeErrorStaysHuge() throws {
        let fix = try #require(
            Fix(
                GNSSReport(
                    time: Timestamp(milliseconds: epochStart), mode: 3, latitude: 0, longitude: 0, speed: -0.1,
                    course: 360.1, altitudeMSL: .infinity, horizontalError: 1e300, status: 77, satellitesUsed: -1)))
        #expect(fix.speed == nil)
        #expect(fix.course == nil)
        #expect(fix.altitude == nil)
        #expect(fix.accuracy == .max)
        #expect(fix.status == nil)
        #expect(fix.satellites == nil)
    }

    @Test(arguments: [nil, 0, 1]) func aSolutionWithoutStatusIsAPlainFix(_ status: Int?) {
        let report = GNSSReport(
            time: Timestamp(milliseconds: epochStart), mode: 3, latitude: 0, longitude: 0, speed: .nan, status: status)
        #expect(Fix(report)?.status == .plain)
        #expect(Fix(report)?.speed == nil)
    }

    @Test func anyStreamOfReportsGivesFixesOfDifferentEpochs() {
        let seed = TestGenerator.printedSeed()
        var generator = TestGenerator(seed: seed)
        var assembler = EpochAssembler()
        var time: Int64 = 0
        var previous: Int64?
        var usable = 0
        for _ in 0..<20_000 {
            if Int.random(in: 0..<3, using: &generator) == 0 { time += 200 }
            let mode = Int.random(in: 0...3, using: &generator)
            usable += mode >= 2 ? 1 : 0
            let made = assembler.report(report(time + Int64.random(in: 0...1, using: &generator), mode: mode))
            let flushed = Int.random(in: 0..<10, using: &generator) == 0 ? assembler.flush() : nil
            for fix in [made, flushed?.fix].compactMap(\.self) {
                if let previous { #expect(fix.time.milliseconds - previous > 1, "seed \(seed)") }
                previous = fix.time.milliseconds
            }
        }
        #expect(assembler.counters.fixes > 1000)
        #expect(assembler.counters.unusable == 20_000 - UInt64(usable), "seed \(seed)")
    }
}
