import AgentLogic
import Foundation
import GNSSFeed
import Testing
import TrackModel
import TrackTestKit

@testable import AgentRuntime

@Suite struct StateFileTests {
    private let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "saker-state-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    @Test func whatIsWrittenIsReadBack() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = StateFile(directory: directory)
        #expect(file.read() == .absent)
        var settings = Settings()
        try settings.setIntervals(gather: 10, pack: 60)
        try settings.setCacheLimit(nil)
        let gap = OpenGap(
            entity: "van", since: Timestamp(milliseconds: 5),
            spans: [
                GapSpan(.noFix, from: nil, until: Timestamp(milliseconds: 6)),
                GapSpan(.off, from: Timestamp(milliseconds: 6), until: Timestamp(milliseconds: 7)),
            ])
        let state = DurableState(
            target: .init(TargetState(entity: "van", isServiceStarted: true, isGathering: false)),
            settings: .init(settings), gap: .init(gap))
        #expect(file.write(state) == nil)
        #expect(file.read() == .read(state))
        #expect(state.gap.map(OpenGap.init) == gap)
        #expect(try state.settings?.settings() == settings)
    }

    @Test(arguments: ["", "{", "[]", "{\"version\":2}", "\u{0}\u{0}", "{\"version\":1,\"target\":5}"])
    func aDamagedFileIsPutAsideAndTheNextStartIsClean(content: String) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try content.write(toFile: directory + "/state.json", atomically: false, encoding: .utf8)
        let file = StateFile(directory: directory)
        #expect(file.read() == .putAside(directory + "/state.json.damaged"))
        #expect(file.read() == .absent)
        #expect(try String(contentsOfFile: directory + "/state.json.damaged", encoding: .utf8) == content)
    }

    /// As versions before wrote it, the first of them without parking.
    @Test(arguments: ["", #", "parkingDelay" : 300, "parkingInterval" : 60"#])
    func aFileOfAnEarlierVersionIsRead(parking: String) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let content = """
            {"version" : 1, "settings" : {"activity" : "fitness", "desiredAccuracy" : 12.5, "gatherInterval" : 10,
            "keepAlive" : true, "packInterval" : 60\(parking)}}
            """
        try content.write(toFile: directory + "/state.json", atomically: false, encoding: .utf8)
        guard case .read(let state) = StateFile(directory: directory).read() else {
            Issue.record("the file was not read")
            return
        }
        let settings = try #require(try state.settings?.settings())
        #expect(settings.gatherInterval == 10 && settings.packInterval == 60 && settings.keepAlive)
        #expect(settings.location.activity == .fitness && settings.location.desiredAccuracy == 12.5)
        // Absent is off, and unlimited.
        #expect(settings.cacheLimit == nil && settings.location.distanceFilter == nil)
        #expect(settings.location.parking == (parking.isEmpty ? nil : ParkingOptions(delay: 300, interval: 60)))
        #expect(settings.parkingInterval == (parking.isEmpty ? 240 : 60))
    }

    @Test func theFileHasTheMembersOfEarlierVersions() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var settings = Settings()
        try settings.change {
            $0.desiredAccuracy = 12.5
            $0.distanceFilter = 3
            $0.parkingDelay = 300
        }
        let file = StateFile(directory: directory)
        #expect(file.write(DurableState(settings: .init(settings))) == nil)
        let content = try String(contentsOfFile: directory + "/state.json", encoding: .utf8)
        #expect(
            content.filter { !$0.isWhitespace } == """
                {"settings":{"activity":"other","cacheLimit":268435456,"desiredAccuracy":12.5,"distanceFilter":3,\
                "gatherInterval":5,"keepAlive":false,"packInterval":30,"parkingDelay":300,"parkingInterval":240},"version":1}
                """)
    }

    /// A vehicle that was not gathering before has not ceased to gather with the next command.
    @Test func whenTheAgentCeasedToGatherIsRemembered() {
        func target(_ isGathering: Bool, _ time: Int64?) -> DurableState.Target {
            .init(TargetState(entity: "bus", isServiceStarted: true, isGathering: isGathering), at: time)
        }
        #expect(target(true, 5).stoppedTime == nil)
        #expect(target(false, 5).stoppedTime == 5)
    }

    /// What was told before an enrolment was told to another vehicle.
    @Test func aNewEnrolmentForgetsTheCommandsAndKeepsTheSettings() throws {
        var settings = Settings()
        try settings.setIntervals(gather: 10, pack: 60)
        let told = DurableState.Target(TargetState(entity: "bus"), stoppedBy: "person")
        // An earlier version, which knew no marks, has remembered it.
        var state = DurableState(target: told, settings: .init(settings))
        let before = state
        func begin(_ mark: String?) -> Bool { state.begin(under: mark) }
        #expect(!begin(nil))
        #expect(state == before)
        #expect(begin("a1"))
        #expect(state.target == nil && state.enrollment == "a1" && state.settings == before.settings)
        state.target = told
        // The second is a configuration that a person wrote anew.
        #expect(!begin("a1") && !begin(nil))
        #expect(state.target == told)
        #expect(begin("b2"))
        #expect(state.target == nil)
        #expect(!begin("c3"))
        #expect(state.enrollment == "c3")
    }

    @Test func settingsThatSomebodyEditedAgainstTheirRuleAreRefused() throws {
        var remembered = DurableState.DurableSettings(Settings())
        remembered.record.gatherInterval = 1
        #expect(throws: SettingsError.self) { try remembered.settings() }
    }
}

@Suite struct CertificateTimeTests {
    private let wrong = KernelClockState(seconds: 0, isSynchronised: true)
    private let unkept = KernelClockState(seconds: SakerVersion.madeAt + 5, isSynchronised: false)
    private let right = KernelClockState(seconds: SakerVersion.madeAt + 5, isSynchronised: true)

    @Test func aBelievableClockJudgesByItself() {
        var time = CertificateTime()
        time.fixArrived(Timestamp(seconds: 1_800_000_000), now: 0)
        #expect(time.verificationTime(now: 0, systemClock: right) == nil)
    }

    @Test func withoutAFixThereIsOnlyTheSystemClock() {
        #expect(CertificateTime().verificationTime(now: 0, systemClock: wrong) == nil)
    }

    @Test func aReceiverFromThePastIsNotBelieved() {
        var time = CertificateTime()
        time.fixArrived(Timestamp(seconds: SakerVersion.madeAt - 1), now: 0)
        #expect(time.verificationTime(now: 0, systemClock: unkept) == nil)
    }

    @Test func theReceiversTimeGoesOnByTheMonotonicClock() {
        var time = CertificateTime()
        time.fixArrived(Timestamp(seconds: 1_800_000_000), now: 10_000)
        #expect(time.verificationTime(now: 10_000, systemClock: wrong) == 1_800_000_000)
        #expect(time.verificationTime(now: 100_000, systemClock: unkept) == 1_800_000_090)
        #expect(time.verificationTime(now: 0, systemClock: wrong) == 1_800_000_000)
    }

    @Test func twoPossibleTimesHaveTheirTurns() {
        var time = CertificateTime()
        func refused(at clock: KernelClockState) -> Bool { time.certificateRefused(now: 0, systemClock: clock) }
        let ahead = SakerVersion.madeAt + 1024 * 7 * 86_400
        time.fixArrived(Timestamp(seconds: ahead), now: 0)
        #expect(time.verificationTime(now: 0, systemClock: unkept) == ahead)
        #expect(refused(at: unkept))
        #expect(time.verificationTime(now: 0, systemClock: unkept) == nil)
        #expect(refused(at: unkept))
        #expect(time.verificationTime(now: 0, systemClock: unkept) == ahead)
    }

    /// A receiver that is years ahead ends no certificate, and a clock that nobody keeps and that is years ahead neither.
    @Test func whereTwoTimesArePossibleTheEarlierOneEndsTheOwnCertificate() {
        let (made, years) = (SakerVersion.madeAt, Int64(1024 * 7 * 86_400))
        func believed(receiver: Int64?, clock: KernelClockState) -> Int64? {
            var time = CertificateTime()
            if let receiver { time.fixArrived(Timestamp(seconds: receiver), now: 0) }
            return time.believedTime(now: 0, systemClock: clock)
        }
        #expect(believed(receiver: made + years, clock: unkept) == unkept.seconds)
        #expect(
            believed(receiver: made + 9, clock: KernelClockState(seconds: made + years, isSynchronised: false)) == made
                + 9)
        // One of both cannot be right, or is kept.
        #expect(believed(receiver: made + years, clock: wrong) == made + years)
        #expect(believed(receiver: made - years, clock: unkept) == nil)
        #expect(believed(receiver: made + years, clock: right) == right.seconds)
        #expect(believed(receiver: nil, clock: unkept) == nil && believed(receiver: nil, clock: right) == right.seconds)
        // Less than a day is no contradiction.
        #expect(believed(receiver: made + 3600, clock: unkept) == made + 3600)
    }

    @Test func aCertificateThatIsTrulyExpiredStaysRefused() {
        var time = CertificateTime()
        func refused(at clock: KernelClockState) -> Bool { time.certificateRefused(now: 0, systemClock: clock) }
        time.fixArrived(Timestamp(seconds: SakerVersion.madeAt + 100), now: 0)
        // A clock in 1970, one that is kept, and one that says the same: there is no other time to try.
        #expect(!refused(at: wrong))
        #expect(!refused(at: right))
        #expect(!refused(at: unkept))
        #expect(time.verificationTime(now: 0, systemClock: wrong) == SakerVersion.madeAt + 100)
    }
}
