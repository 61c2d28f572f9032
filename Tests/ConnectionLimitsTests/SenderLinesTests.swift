import Testing
import TrackModel

@testable import ConnectionLimits

@Suite struct SenderLinesTests {
    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(milliseconds: Int64(seconds * 1000)) }

    private func lines(_ change: (inout SenderLines.Limits) -> Void = { _ in }) -> SenderLines {
        var limits = SenderLines.Limits(burstOfAll: 100, intervalOfAll: 100)
        (limits.burst, limits.interval) = (3, 1000)
        change(&limits)
        return SenderLines(limits)
    }

    @Test func eachSenderHasABudget() {
        var lines = lines()
        #expect((0..<5).map { _ in lines.line(of: "a", at: at(0)) } == [0, 0, 0, nil, nil])
        #expect(lines.line(of: "b", at: at(0)) == 0)
        #expect(lines.line(of: "a", at: at(1)) == 2)
        #expect(lines.line(of: "a", at: at(1)) == nil)
        #expect(lines.line(of: "a", at: at(2)) == 1)
    }

    @Test func aCertainLineIsWrittenAndTakesNothing() {
        var lines = lines { $0.burstOfAll = 3 }
        #expect((0..<9).map { _ in lines.line(of: "a", at: at(0), isCertain: true) } == Array(repeating: 0, count: 9))
        #expect((0..<4).map { _ in lines.line(of: "a", at: at(0)) } == [0, 0, 0, nil])
        #expect(lines.line(of: "a", at: at(0), isCertain: true) == 1)
    }

    @Test func allSendersTogetherHaveOne() {
        var lines = lines { $0.burstOfAll = 4 }
        let written = (0..<10).map { lines.line(of: "\($0)", at: at(0)) }
        #expect(written.count { $0 != nil } == 4)
        #expect(lines.line(of: "9", at: at(0.1)) == 1)
    }

    @Test func whatWasLeftOutIsSaidWhenTheSenderIsSilent() {
        var lines = lines()
        for _ in 0..<10 { _ = lines.line(of: "a", at: at(0)) }
        #expect(lines.takeLeftOut(at: at(59)).isEmpty)
        #expect(lines.takeLeftOut(at: at(60)).map(\.lines) == [7])
        #expect(lines.takeLeftOut(at: at(61)).isEmpty)
        #expect(lines.count == 0)
    }

    /// Nothing of it is forgotten, whoever is.
    @Test func theTableIsBounded() {
        var lines = lines {
            $0.senders = 10
            $0.burstOfAll = 0
        }
        for sender in 0..<1000 {
            #expect(lines.line(of: "\(sender)", at: at(Double(sender) / 1000)) == nil)
            #expect(lines.count <= 10)
        }
        #expect(lines.takeLeftOut(at: at(100), most: 3).reduce(0) { $0 + $1.lines } == 1000)
    }
}

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
