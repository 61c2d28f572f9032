import Testing
import TrackModel
import TrackTestKit

@testable import AgentLogic

@Suite struct FillForecastTests {
    /// 100 bytes a second, looked at each second.
    private func steady(seconds: Int64, start: MonotonicTime = 5000) -> FillForecast {
        var forecast = FillForecast()
        for second in 0...seconds { forecast.appended(total: UInt64(second * 100), now: start + second * 1000) }
        return forecast
    }

    @Test func aSteadyRateFillsInTheTimeItTakes() {
        #expect(steady(seconds: 120).time(toFill: 1_000_000, now: 125_000) == 10_000_000)
        #expect(steady(seconds: 7200).time(toFill: 1_000_000, now: 7_205_000) == 10_000_000)
    }

    @Test func tooShortALookSaysNothing() {
        #expect(FillForecast().time(toFill: 1, now: 0) == nil)
        #expect(steady(seconds: 29).time(toFill: 1, now: 34_000) == nil)
        #expect(steady(seconds: 30).time(toFill: 100, now: 35_000) == 1000)
    }

    @Test func aFullCacheIsFullNow() {
        #expect(steady(seconds: 60).time(toFill: 0, now: 65_000) == 0)
        #expect(steady(seconds: 60).time(toFill: -5, now: 65_000) == 0)
    }

    @Test func whatNoLongerComesFillsNothing() {
        let forecast = steady(seconds: 60)
        #expect(forecast.time(toFill: 1_000_000, now: 65_000 + FillForecast.window) == nil)
        // Half of the window was quiet: half the rate.
        let busy = steady(seconds: 600)
        #expect(busy.time(toFill: 600_000, now: 905_000) == 12_000_000)
    }

    @Test func aChangeOfRateIsSeenAfterTheWindow() {
        var forecast = steady(seconds: 600)
        for second in Int64(1)...700 {
            forecast.appended(total: UInt64(60_000 + second * 10), now: 605_000 + second * 1000)
        }
        #expect(forecast.time(toFill: 1000, now: 1_305_000) == 100_000)
    }

    @Test func memoryStaysSmall() {
        let long = steady(seconds: 100_000)
        #expect(Mirror(reflecting: long).children.first.map { Mirror(reflecting: $0.value).children.count } ?? 0 <= 62)
    }

    @Test func hugeNumbersAreUnknown() {
        #expect(steady(seconds: 60).time(toFill: .max, now: 65_000) == nil)
    }
}
