import ProgramTestKit
import Testing

/// The judge of the crash rounds and of the soak sees what is wrong.
@Suite struct VerdictTests {
    private let points = (0..<6).map { Fleet.Stored(time: 10 + 2 * $0, latitude: 52 + Double($0), longitude: 4) }

    private var reports: [GPSDObserver.Report] {
        points.map {
            GPSDObserver.Report(
                time: $0.time * 1000 + 545, mode: 3, latitude: $0.latitude, longitude: $0.longitude, details: 4)
        }
    }

    private func chunk(_ first: Int, _ last: Int, _ count: Int) -> Fleet.Chunk {
        Fleet.Chunk(first: first * 1000, last: last * 1000, count: count, isSettled: false)
    }

    private var chunks: [Fleet.Chunk] { [chunk(10, 14, 3), chunk(16, 20, 3)] }

    @Test func whatIsStoredOnceAndInOrderIsRight() {
        let verdict = Verdict(taken: [10, 12, 20], chunks: chunks, points: points, reports: [reports])
        #expect(verdict.problems == [])
        #expect(verdict.stored == 6 && verdict.lost == [] && verdict.doubled == 0)
    }

    @Test func aLostPointIsNamed() {
        let verdict = Verdict(taken: [10, 22], chunks: chunks, points: points, reports: [reports])
        #expect(verdict.lost == [22] && verdict.problems == ["lost: [22]"])
    }

    @Test func aPointStoredTwiceIsCounted() {
        let verdict = Verdict(
            taken: [10], chunks: chunks + [chunk(22, 22, 1)], points: points, reports: [reports])
        #expect(verdict.doubled == 1 && verdict.problems == ["doubled: 1"])
    }

    @Test func overtakingAndInventionAreSeen() {
        let swapped = Verdict(taken: [10], chunks: chunks.reversed(), points: points, reports: [reports])
        #expect(swapped.problems.count == 1 && swapped.problems.first?.hasPrefix("points overtook") == true)
        let elsewhere = Verdict(taken: [10], chunks: chunks, points: points, reports: [reports.dropLast()])
        #expect(elsewhere.problems.count == 1 && elsewhere.problems.first?.hasPrefix("gpsd never said") == true)
    }

    @Test func oneEpochOfAKilledGPSDMayBeTheAgentsAlone() {
        func verdict(_ killed: Int, _ next: Int) -> [String] {
            Verdict(
                taken: [10], chunks: chunks, points: points,
                reports: [Array(reports[..<killed]), Array(reports[next...])]
            ).problems
        }
        #expect(verdict(3, 4) == [])
        #expect(verdict(3, 5).count == 1)
    }

    @Test func growthIsNotFlat() {
        let noise = (0..<400).map { 1000 + $0 * 37 % 90 }
        #expect(FlatnessCheck("flat", "KB", noise, share: 5, floor: 10).isFlat)
        let growing = noise.enumerated().map { $0.element + $0.offset / 2 }
        #expect(!FlatnessCheck("growing", "KB", growing, share: 5, floor: 10).isFlat)
        // What warming up takes is not growth.
        let warming = (0..<400).map { $0 < 90 ? 200 : 1000 }
        #expect(FlatnessCheck("warm", "KB", warming, share: 0, floor: 2).isFlat)
    }
}
