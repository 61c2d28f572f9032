import Testing
import TrackModel

@testable import Admission

@Suite struct LineBudgetTests {
    @Test func linesHaveABudget() {
        var budget = LineBudget(burst: 3, interval: 1000)
        #expect((0..<3).map { _ in budget.line(at: time(5)) } == [0, 0, 0])
        #expect((0..<4).map { _ in budget.line(at: time(5)) } == [nil, nil, nil, nil])
        #expect(budget.line(at: time(6)) == 4)
        #expect(budget.line(at: time(6)) == nil)
        #expect(budget.line(at: time(7.5)) == 1)
        #expect(budget.line(at: time(8)) == 0)
        #expect((0..<4).map { _ in budget.line(at: time(100)) } == [0, 0, 0, nil])
    }

    /// It is no line that was left out.
    @Test func aLineThatIsWrittenInAnyCaseIsNotCountedAsSkipped() {
        var budget = LineBudget(burst: 1, interval: 1000)
        #expect(budget.line(at: time(0)) == 0)
        #expect(budget.line(at: time(0)) == nil)
        #expect(budget.line(at: time(0), isCertain: true) == 1)
        #expect(budget.line(at: time(0), isCertain: true) == 0)
        #expect(budget.line(at: time(0)) == nil)
        #expect(budget.line(at: time(1)) == 1)
    }

    private func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(milliseconds: Int64(seconds * 1000)) }
}
