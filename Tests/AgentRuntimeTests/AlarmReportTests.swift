import AgentControl
import AlarmLog
import Geofencing
import JSON
import Testing
import TrackTestKit
import TrackWire

@testable import AgentRuntime

/// Alarms that the server cannot find itself, from the journal to the server's answer.
@Suite struct AlarmReportTests {
    /// Two early alarms whose points a person clears while there is no link.
    private func withClearedPoints() throws -> ServedAgent {
        let box = try ServedAgent()
        _ = try box.login()
        try box.deliver(5)
        box.isReachable = false
        box.cut()
        try box.drive()
        _ = box.agent.clearCache(CacheSelection())
        #expect(try box.alarms().map(\.report) == [.wanted, .wanted])
        box.isReachable = true
        return box
    }

    @Test func anAlarmWhosePointIsClearedIsReported() throws {
        let box = try withClearedPoints()
        _ = try box.login()
        let report = try #require(try box.reports().first)
        #expect(report.alarms.count == 2 && report.alarms.allSatisfy { $0.type == 3 && $0.key.count == 16 })
        let body = try JSONReader.value(of: Array(report.alarms[0].json.utf8))
        #expect(body == box.told[0].body)
        // The server takes the first and refuses the second.
        try box.answer(report, refused: [report.alarms[1].key])
        #expect(try box.alarms().map(\.report) == [.done, .refused])
        #expect(try box.alarms().map(\.isConfirmed) == [true, false])
        #expect(box.agent.earlyAlarms.reportsWaiting == 0)
        // Neither is sent again: not at the next login, and not by the next process.
        box.cut()
        _ = try box.login()
        #expect(try box.reports().isEmpty)
        box.disk.killProcess()
        let next = try ServedAgent(box.disk)
        _ = try next.login()
        #expect(try next.reports().isEmpty)
        #expect(try next.alarms().map(\.report) == [.done, .refused])
    }

    @Test func aReportWithoutAnAnswerIsSentAgainAtTheNextLogin() throws {
        let box = try withClearedPoints()
        _ = try box.login()
        let first = try #require(try box.reports().first)
        // One message is under way, however long the server takes.
        try box.wait(seconds: 30)
        #expect(try box.reports().isEmpty)
        box.cut()
        _ = try box.login()
        let second = try #require(try box.reports().first)
        #expect(second.alarms == first.alarms && second.id != first.id)
        // The answer to the message of the earlier link is no answer to this one.
        try box.answer(first)
        #expect(try box.alarms().map(\.report) == [.wanted, .wanted])
        try box.answer(second)
        #expect(try box.alarms().map(\.report) == [.done, .done])
        box.cut()
        _ = try box.login()
        #expect(try box.reports().isEmpty)
    }

    @Test func reportsSurviveARestart() throws {
        let box = try withClearedPoints()
        box.disk.killProcess()
        let next = try ServedAgent(box.disk)
        _ = try next.login()
        let first = try #require(try next.reports().first)
        #expect(first.alarms.count == 2)
        // Also while the answer is under way.
        next.disk.killProcess()
        let last = try ServedAgent(next.disk)
        _ = try last.login()
        let second = try #require(try last.reports().first)
        #expect(second.alarms == first.alarms)
        try last.answer(second)
        #expect(try last.alarms().map(\.report) == [.done, .done])
    }

    /// Another service would store the alarms as alarms of its own fences.
    @Test func aReportWaitsForItsService() throws {
        let box = try withClearedPoints()
        box.disk.killProcess()
        let other = try ServedAgent(box.disk, service: 8)
        _ = try other.login()
        #expect(try other.reports().isEmpty)
        let told = try #require(other.agent.report().fences?.server)
        #expect(told.reportsWaiting == 2 && told.reportsElsewhere == 2 && told.reportsWaitingSince == nil)
        #expect(try other.alarms().map(\.report) == [.wanted, .wanted])
        other.disk.killProcess()
        let back = try ServedAgent(other.disk)
        _ = try back.login()
        let report = try #require(try back.reports().first)
        #expect(report.alarms.count == 2 && back.agent.report().fences?.server?.reportsElsewhere == 0)
        try back.answer(report)
        #expect(try back.alarms().map(\.report) == [.done, .done])
    }

    @Test func reportsSurviveAPowerCut() throws {
        let box = try withClearedPoints()
        box.disk.crash(seed: 3)
        let next = try ServedAgent(box.disk)
        _ = try next.login()
        try next.wait(seconds: 5)
        #expect(try next.reports().flatMap(\.alarms).count == 2)
    }

    @Test func alarmsOfLocalFencesAreReportedWhenTheFenceSaysSo() throws {
        let box = try ServedAgent()
        for isReported in [true, false] {
            _ = box.agent.createFence([
                "watch": ["van"], "report": .bool(isReported),
                "shape": ["kind": "circle", "latitude": 52, "longitude": 4, "radius": 100],
            ])
        }
        box.isReachable = false
        box.cut()
        try box.drive()
        #expect(box.told.count == 4 && box.told.allSatisfy { $0.type == 4 && $0.early == nil })
        box.disk.killProcess()
        let next = try ServedAgent(box.disk)
        _ = try next.login()
        let first = try #require(try next.reports().first)
        #expect(first.alarms.map(\.type) == [4, 4])
        // Without an answer they come again.
        next.cut()
        _ = try next.login()
        let second = try #require(try next.reports().first)
        #expect(second.alarms == first.alarms)
        try next.answer(second)
        for alarm in try next.alarms() {
            #expect(alarm.report == (alarm.content.fence?.fence == 1 ? .done : .none))
            #expect(!alarm.isConfirmed)
        }
        next.cut()
        _ = try next.login()
        #expect(try next.reports().isEmpty)
    }

    /// The names go beside the alarm, because they may be longer than an alarm may be.
    @Test func aReportSaysWhoElseIsToHearOfTheAlarm() throws {
        let box = try ServedAgent()
        let many = (1...FenceReaction.mostRemote).map { "bus-\($0)" }
        let long = (2...FenceReaction.mostRemote).map { String(repeating: "字", count: 40) + "\($0)" }.sorted()
        let watches: [[String]] = [["van", "bus"], ["van"], many + ["van"], long + ["van"]]
        for (isReported, names) in watches.map({ (true, $0) }) + [(false, ["van", "bus"])] {
            _ = box.agent.createFence([
                "watch": .array(names.map { .string($0) }), "report": .bool(isReported), "rule": ["enter"],
                "shape": ["kind": "circle", "latitude": 52, "longitude": 4, "radius": 100],
                "actions": [["on": "enter", "params": ["bay": 7], "remote": true]],
            ])
        }
        box.isReachable = false
        box.cut()
        try box.drive()
        #expect(box.told.count == 5)
        #expect(box.told.map { $0.body["remote_to"] } == [["bus"], nil, nil, .array(long.map { .string($0) }), nil])
        box.isReachable = true
        _ = try box.login()
        let report = try #require(try box.reports().first)
        #expect(report.alarms.map(\.remoteTo) == [["bus"], [], [], long])
        for alarm in report.alarms {
            let body = try JSONReader.value(of: Array(alarm.json.utf8))
            #expect(body["remote_to"] == nil && body["remote"] == true && body["params"] == ["bay": 7])
        }
    }

    @Test func anotherEntityReportsNoneOfThem() throws {
        let box = try withClearedPoints()
        box.disk.killProcess()
        let other = try ServedAgent(box.disk, entity: "bus")
        _ = try other.login()
        #expect(try other.reports().isEmpty)
        #expect(try other.alarms().map(\.report) == [.wanted, .wanted])
        other.disk.killProcess()
        let again = try ServedAgent(other.disk)
        _ = try again.login()
        #expect(try again.reports().map(\.alarms.count) == [2])
    }
}
