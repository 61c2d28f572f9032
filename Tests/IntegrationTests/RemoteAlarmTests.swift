import Foundation
import ProgramTestKit
import Testing

/// An alarm of a vehicle's own fence on its way to another vehicle, through the real programs.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python)) struct RemoteAlarmTests {
    @Test func anotherVehicleHearsOfAReportedAlarmOnce() throws {
        let proxy = try CuttingProxy(seed: 1)
        let fleet = try Fleet(link: proxy)
        let source = try ReceiverSource(
            epochs: ReceiverSource.drive(seconds: 160, from: Int(Date().timeIntervalSince1970) + 60), pause: 0.01)
        let gpsd = try fleet.startGPSD(source: source.address)
        let server = try fleet.startServer()
        var agent = try fleet.startAgent()
        let other = try Fleet(beside: fleet, as: "van_08")
        let otherAgent = try other.startAgent()
        try waitUntil("the other vehicle is online", within: 300) { try other.linkState() == "online" }
        try fleet.makeOwnFence(
            atSecond: 100, watching: [fleet.entity, other.entity, "nobody"], remote: ["enter"])

        // It happens without a link, and the agent is killed before it can report.
        try waitUntil("the vehicle is online", within: 300) { try fleet.linkState() == "online" }
        proxy.set(.down)
        source.resume()
        try waitUntil("the visit is told", within: 300) { try fleet.ownAlarms().count == 2 }
        agent.end(SIGKILL)
        agent = try fleet.startAgent()
        proxy.set(.fair)
        try fleet.saker(["reconnect"])
        try waitUntil("both alarms are reported", within: 300) { try fleet.alarmHistory().count == 2 }
        try waitUntil("the other vehicle hears of it", within: 300) { try other.ownAlarms().count > 0 }
        // Another login reports nothing again.
        try fleet.saker(["reconnect"])
        try waitUntil("the reports are answered", within: 300) { try fleet.reportsWaiting() == 0 }
        #expect(try other.ownAlarms() == [fleet.ownAlarms()[0]])
        #expect(try other.ownAlarms().map(\.entity) == ["van_07"])
        #expect(try fleet.ownAlarms() == fleet.alarmHistory())
        let shown = try other.saker(["alarms"])
        #expect(shown.output.contains("van_07: enter"), "\(shown.all)")
        for program in [agent, otherAgent, server] { #expect(program.end(SIGTERM) == 0, "\(program.printed)") }
        gpsd.end(SIGKILL)
        source.end()
    }
}
