import Foundation
import ProgramTestKit
import Testing

/// Fences that change while the vehicle cannot hear of it, or before it can say so: section "One set" of decision 19.
@Suite(.serialized, .timeLimit(.minutes(60)), .needs(.gpsd, .python)) struct ServerFenceChangeTests {
    private struct Vehicle {
        let proxy: CuttingProxy
        let fleet: Fleet
        let source: ReceiverSource
        /// Of the first epoch, seconds since 1970.
        let start: Int
        let gpsd: Program
        let server: Program
        var agent: Program

        /// The drive is dated some minutes ahead of the clock, so that its points are later than the operator's changes, and
        /// less than the ten minutes beyond which the server judges nothing.
        init(seconds: Int) throws {
            proxy = try CuttingProxy(seed: 1)
            fleet = try Fleet(link: proxy)
            start = Int(Date().timeIntervalSince1970) + 240
            source = try ReceiverSource(epochs: ReceiverSource.drive(seconds: seconds, from: start), pause: 0.02)
            gpsd = try fleet.startGPSD(source: source.address)
            server = try fleet.startServer()
            agent = try fleet.startAgent()
            try goOnline()
        }

        func goOnline() throws {
            proxy.set(.fair)
            try waitUntil("the agent is online", within: 300) {
                try fleet.saker(["reconnect"])
                return try fleet.linkState() == "online"
            }
        }

        /// Lets the receiver play to an epoch, and waits until the agent has the fix of the one before. gpsd tells of the last one
        /// late, or when the next one comes.
        func play(to epoch: Int) throws {
            source.resume()
            try waitUntil("epoch \(epoch) of the drive", within: 300) { source.sent >= epoch }
            source.pause()
            try waitUntil("the agent has the fix of epoch \(epoch - 2)", within: 300) {
                let feed = try fleet.status()["feed"] as? [String: Any]
                let fix = feed?["last_fix"] as? [String: Any]
                return (fix?["time"] as? Int ?? 0) >= (start + epoch - 2) * 1000
            }
        }

        /// What the vehicle has told early. Its disk takes an alarm some time after the point.
        func told(_ expected: [String]) throws -> [FencedAlarm] {
            try waitUntil("as many alarms", within: 300) { try fleet.vehicleAlarms().early.count >= expected.count }
            let told = try fleet.vehicleAlarms().early
            #expect(told.map(\.description) == expected, "told by the revisions that it has")
            return told
        }

        /// Every point and the server's word on every alarm.
        func settle() throws {
            try waitUntil("the points have arrived", within: 300) {
                (try fleet.status()["cache"] as? [String: Any])?["points"] as? Int == 0
            }
            try waitUntil("all alarms are confirmed", within: 300) { try fleet.vehicleAlarms().unconfirmed == 0 }
        }

        func end() {
            #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
            #expect(server.end(SIGTERM) == 0, "\(server.printed)")
            gpsd.end(SIGKILL)
            source.end()
        }
    }

    /// The vehicle leaves one fence by the revision that it has, and stands in another between the old edge and the new one.
    @Test func aFenceThatIsShrunkWhileTheVehicleIsAwayMakesStaleAlarms() throws {
        let vehicle = try Vehicle(seconds: 300)
        let (fleet, proxy) = (vehicle.fleet, vehicle.proxy)
        let fences = try [100, 220].map { try fleet.makeFence(atSecond: $0, radius: 600) }
        try waitUntil("the vehicle has the fences", within: 300) { try fleet.keptServerFences() == 2 }
        let version = try fleet.serverFenceVersion()
        try vehicle.play(to: 80)
        try vehicle.settle()
        #expect(try fleet.alarmHistory().map(\.description) == ["enter 1"])

        proxy.set(.down)
        for fence in fences { try fleet.resizeFence(fence, radius: 60) }
        try vehicle.play(to: 240)
        let told = try vehicle.told(["enter 1", "exit 1", "enter 2"])

        try vehicle.goOnline()
        try waitUntil("the vehicle has the new revisions", within: 300) { try fleet.serverFenceVersion() > version }
        try vehicle.settle()
        #expect(try fleet.alarmHistory().map(\.description) == ["enter 1"], "the others are stale")
        #expect(try fleet.alarmHistory(withStale: true) == told)
        // By the new revision it was outside all the time: the next points make no alarm.
        try vehicle.play(to: 300)
        try vehicle.settle()
        #expect(try fleet.vehicleAlarms().early == told)
        #expect(try fleet.vehicleAlarms().others == [], "the server found what the vehicle did not")
        #expect(try fleet.alarmHistory(withStale: true) == told)
        vehicle.end()
    }

    /// The vehicle has new fences, and no point with them reaches the server before the link goes and the agent is killed. One
    /// of them lies around the vehicle: who does not know from when on the vehicle judged by it finds an enter.
    @Test func aLinkThatIsCutBetweenTheFencesAndTheFirstUploadChangesNoAlarm() throws {
        var vehicle = try Vehicle(seconds: 300)
        let (fleet, proxy) = (vehicle.fleet, vehicle.proxy)
        try fleet.makeFence(atSecond: 40)
        try waitUntil("the vehicle has the fence", within: 300) { try fleet.keptServerFences() == 1 }
        try vehicle.play(to: 100)
        try vehicle.settle()
        #expect(try fleet.alarmHistory().map(\.description) == ["enter 1", "exit 1"])

        try fleet.makeFence(atSecond: 100, radius: 600)
        try fleet.makeFence(atSecond: 220)
        try waitUntil("the vehicle has all fences", within: 300) { try fleet.keptServerFences() == 3 }
        proxy.set(.down)
        vehicle.agent.end(SIGKILL)
        vehicle.agent = try fleet.startAgent()
        try vehicle.play(to: 300)
        let told = try vehicle.told(["enter 1", "exit 1", "exit 2", "enter 3", "exit 3"])

        try vehicle.goOnline()
        try vehicle.settle()
        #expect(try fleet.vehicleAlarms().early == told)
        #expect(try fleet.vehicleAlarms().others == [], "the server found what the vehicle did not")
        #expect(try fleet.alarmHistory(withStale: true) == told)
        vehicle.end()
    }
}
