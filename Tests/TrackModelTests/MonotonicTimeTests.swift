import Testing
import TrackModel
import TrackTestKit

struct MonotonicTimeTests {
    @Test func durationsMoveATimeAndTimesDifferByADuration() {
        let start: MonotonicTime = 1000
        #expect(start + 500 == 1500)
        #expect(start + -500 == 500)
        #expect(start + 500 - start == 500)
        #expect(start - (start + 500) == -500)
        #expect(start < start + 1)
        var time = start
        time += 20
        #expect(time == 1020)
    }

    @Test func nothingTrapsAtTheEndsOfTheRange() {
        let last = MonotonicTime(milliseconds: .max)
        #expect(last + 1 == last)
        #expect(MonotonicTime.distantPast + -1 == .distantPast)
        #expect(last - .distantPast == .max)
        #expect(.distantPast - last == .min)
    }
}
