import FenceJudging
import Testing
import TrackModel
import TrackStore

@testable import Ingest

@Suite struct OutputAllowanceTests {
    private func key(_ name: String) throws -> EntityKey {
        EntityKey(service: try #require(ServiceID(rawValue: 1)), name: name)
    }

    private func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: 1_800_000_000_000 + milliseconds) }

    private func allowance(_ change: (inout OutputAllowance.Limits) -> Void = { _ in }) -> OutputAllowance {
        var limits = OutputAllowance.Limits()
        (limits.alarmsOfBatch, limits.alarmsAtOnce, limits.alarmInterval) = (6, 10, 1000)
        (limits.messagesAtOnce, limits.messageInterval) = (4, 1000)
        change(&limits)
        return OutputAllowance(limits)
    }

    @Test func anEntityHasSoManyAtOnceAndThenSoManyAnHour() throws {
        var allowance = allowance()
        let van = try key("van")
        #expect(allowance.budget(of: van, at: at(0), drawn: nil) == AlarmBudget(alarms: 6, messages: 4))
        // What is not stored yet counts.
        let drawn = AlarmBudget(alarms: 6, messages: 1)
        #expect(allowance.budget(of: van, at: at(0), drawn: drawn) == AlarmBudget(alarms: 4, messages: 3))
        _ = allowance.spend(alarms: 10, messages: 4, untoldAlarms: 0, untoldMessages: 0, of: van, at: at(0))
        #expect(allowance.budget(of: van, at: at(999), drawn: nil) == AlarmBudget(alarms: 0, messages: 0))
        #expect(allowance.budget(of: van, at: at(3000), drawn: nil) == AlarmBudget(alarms: 3, messages: 3))
        #expect(allowance.budget(of: try key("bus"), at: at(0), drawn: nil).alarms == 6)
        // A clock that was set back gives nothing.
        #expect(allowance.budget(of: van, at: at(-9_000_000), drawn: nil).alarms == 0)
    }

    @Test func whatIsNotToldIsSaidOnceWithItsCount() throws {
        var allowance = allowance()
        let van = try key("van")
        func spend(_ untold: Int, _ time: Int64) -> OutputAllowance.Notice? {
            allowance.spend(alarms: 0, messages: 0, untoldAlarms: untold, untoldMessages: 1, of: van, at: at(time))
        }
        #expect(spend(7, 0) == OutputAllowance.Notice(entity: van, alarms: 7, messages: 1))
        #expect(spend(8, 1000) == nil)
        #expect(spend(9, 2000) == nil)
        #expect(allowance.takeNotices(at: at(3000)).isEmpty)
        // Nothing more comes: the rest is said all the same.
        #expect(
            allowance.takeNotices(at: at(OutputAllowance.noteInterval)) == [.init(entity: van, alarms: 17, messages: 2)]
        )
        #expect(allowance.takeNotices(at: at(2 * OutputAllowance.noteInterval)).isEmpty)
        #expect(allowance.count == 0)
    }

    @Test func theTableIsBounded() throws {
        var allowance = allowance { $0.entities = 10 }
        for number in 0..<1000 {
            _ = allowance.spend(
                alarms: 10, messages: 0, untoldAlarms: 0, untoldMessages: 0, of: try key("v\(number)"),
                at: at(Int64(number)))
            #expect(allowance.count <= 10)
        }
        #expect(allowance.budget(of: try key("v999"), at: at(999), drawn: nil).alarms == 0)
    }
}
