import Testing
import TrackModel

@testable import TrackAnalysis

@Suite struct LatestPointTests {
    private let options = CleaningOptions(denoiseGrade: 4, speedCap: usualCap)

    private func shown(_ fixes: [Fix], age: Double = 0, _ options: CleaningOptions? = nil) -> Int? {
        let now = (fixes.last?.time.milliseconds ?? 0) + Int64(age * 1000)
        return LatestPoint.index(in: TrackColumns(fixes: fixes), options ?? self.options, now: now)
    }

    @Test func theLastKeptPointIsShown() {
        #expect(shown([]) == nil)
        #expect(shown([.at(0, 47, 9)]) == 0)
        #expect(shown([.at(0, 47, 9), .at(1, 47, 9.0001)]) == 1)
        // Parked: points of a stop are points.
        #expect(shown((0..<200).map { .at(Double($0), 47, 9) }) == 199)
    }

    @Test func aPointOfTooLargeARadiusIsNotShown() {
        #expect(shown([.at(0, 47, 9), .at(1, 47, 9, radius: 51), .at(2, 47, 9, radius: 2000)]) == 0)
        // Nothing passes: the newest is better than nothing.
        #expect(shown([.at(0, 47, 9, radius: 60), .at(1, 47, 9, radius: 51)]) == 1)
    }

    @Test func aJumpAtTheEndIsUndecidedForAMinute() {
        let jump: [Fix] = [.at(0, 47, 9), .at(1, 47, 9), .at(2, 47.1, 9)]
        #expect(shown(jump) == 1)
        #expect(shown(jump, age: 60) == 1)
        #expect(shown(jump, age: 60.001) == 2)
        // A second one there confirms it.
        #expect(shown(jump + [.at(3, 47.1, 9)]) == 3)
        // One back where the vehicle was refutes it.
        #expect(shown(jump + [.at(3, 47, 9)], age: 1000) == 3)
        // With denoising off the newest is shown.
        #expect(shown(jump, CleaningOptions(denoiseGrade: 0, speedCap: usualCap)) == 2)
        // A point that the radius limit drops does not confirm anything.
        #expect(shown(jump + [.at(3, 47.1, 9, radius: 51)], age: 5) == 1)
    }
}
