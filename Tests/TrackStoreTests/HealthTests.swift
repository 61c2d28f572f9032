import Testing
import TrackModel

@testable import TrackStore

/// Which vehicles an operator is told of, in which order and with which words.
@Suite struct FleetHealthTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func vehicle(
        _ name: String, _ report: HealthReport? = nil, device: DeviceID? = nil, ago: Int64 = 1
    ) throws -> VehicleHealth {
        let time = now.adding(milliseconds: -ago * 1000)
        return VehicleHealth(
            entity: EntityKey(service: try #require(ServiceID(rawValue: 1)), name: name), heard: time,
            agentVersion: "1.0", device: device, report: report, reported: report == nil ? nil : time)
    }

    private func losing(_ points: UInt64) -> HealthReport { HealthReport(losses: [.bound: points], lossAge: 1) }

    @Test func theWorstComesFirstAndOthersStayInTheirOrder() throws {
        let fleet = FleetHealth(
            [
                try vehicle("a"), try vehicle("b", HealthReport(disk: .full)), try vehicle("c", losing(5)),
                try vehicle("d", HealthReport()), try vehicle("e", losing(700)), try vehicle("f", ago: 200_000),
                try vehicle("g", HealthReport(disk: .readOnly)),
            ], devices: [], at: now)
        #expect(fleet.rows.map(\.vehicle.entity.name) == ["e", "c", "b", "g", "f", "a", "d"])
        #expect(fleet.troubled.map(\.vehicle.entity.name) == ["e", "c", "b", "g", "f"])
        #expect(fleet.counts == [.losing: 2, .disk: 2, .silent: 1])
        #expect(fleet.well == (told: 1, untold: 1))
    }

    /// An alert about it would never end.
    @Test func aVehicleThatIsOutOfUseIsNotMissedForEver() throws {
        let days: Int64 = 86_400
        let fleet = FleetHealth(
            [try vehicle("a", ago: 89 * days), try vehicle("b", losing(1), ago: 90 * days)], devices: [], at: now)
        #expect(fleet.rows.map(\.vehicle.entity.name) == ["a"] && fleet.counts == [.silent: 1])
    }

    @Test func aDeviceThatIsShutOutOrElsewhereIsNotMissed() throws {
        let service = try #require(ServiceID(rawValue: 1))
        func device(_ number: UInt8, _ entity: String, _ state: DeviceRecord.State = .active) throws -> DeviceRecord {
            DeviceRecord(
                id: try #require(DeviceID(bytes: [UInt8](repeating: number, count: 16))), service: service,
                entity: entity, state: state, keyHash: [], created: now, certificateEnd: now)
        }
        let devices = [try device(1, "a"), try device(2, "b", .revoked), try device(3, "elsewhere")]
        let gone = try #require(DeviceID(bytes: [UInt8](repeating: 9, count: 16)))
        let vehicles = try [("a", devices[0].id), ("b", devices[1].id), ("c", devices[2].id), ("d", gone), ("e", nil)]
            .map { try vehicle($0.0, losing(1), device: $0.1) }
        let fleet = FleetHealth(vehicles, devices: devices, at: now)
        #expect(fleet.rows.map(\.vehicle.entity.name) == ["a", "e"])
    }

    @Test func twoComputersThatAreOneDeviceComeFirst() throws {
        let service = try #require(ServiceID(rawValue: 1))
        let id = try #require(DeviceID(bytes: [UInt8](repeating: 1, count: 16)))
        var device = DeviceRecord(
            id: id, service: service, entity: "b", keyHash: [], created: now, certificateEnd: now, cloned: now)
        let vehicles = [try vehicle("a", losing(9)), try vehicle("b", losing(1), device: id)]
        let fleet = FleetHealth(vehicles, devices: [device], at: now)
        #expect(fleet.rows.map(\.vehicle.entity.name) == ["b", "a"])
        #expect(fleet.rows.first?.troubles == [.cloned(now), .losing(.bound, points: 1)])
        #expect(fleet.counts == [.cloned: 1, .losing: 1])
        device.cloned = nil
        #expect(FleetHealth(vehicles, devices: [device], at: now).counts == [.losing: 2])
    }

    @Test func everyTroubleHasItsWords() {
        let texts: [(VehicleTrouble, String)] = [
            (
                .cloned(now),
                "two computers have its certificate, or seem to: one is a copy of the other's disk. Where it is proven, neither may log in"
            ),
            (.losing(.bound, points: 512), "lost 512 points: its cache was full"),
            (.losing(.copiedDisk, points: 1), "lost 1 point: another vehicle has a copy of its disk"),
            (.disk(.full), "disk full: new points are in memory only"),
            (.receiver(.away), "no receiver: unplugged or broken"),
            (.receiver(.unreachable), "no receiver: gpsd does not answer"),
            (.silent(172_800), "not heard for 2 days"), (.silent(172_799), "not heard for 47 hours"),
            (.certificate(-7200), "certificate ended 2 hours ago"),
            (.certificate(119), "certificate ends in 119 seconds"),
            (.behind(3600), "3600 points wait on the vehicle"), (.noFix(900), "no position for 15 minutes"),
            (.noFix(nil), "no position since its agent started"),
        ]
        for (trouble, text) in texts { #expect("\(trouble)" == text) }
    }
}

/// When a vehicle is in trouble, and what is worst.
@Suite struct VehicleTroubleTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)
    private let rules = TroubleRules()

    /// Heard and reported so many seconds ago.
    private func vehicle(_ report: HealthReport?, ago: Int64 = 10, hasLeft: Bool = false) throws -> VehicleHealth {
        let time = now.adding(milliseconds: -ago * 1000)
        return VehicleHealth(
            entity: EntityKey(service: try #require(ServiceID(rawValue: 1)), name: "van"), heard: time,
            agentVersion: "1.0", report: report, reported: report == nil ? nil : time, hasLeft: hasLeft)
    }

    private func troubles(_ report: HealthReport?, ago: Int64 = 10, hasLeft: Bool = false) throws -> [VehicleTrouble] {
        rules.troubles(of: try vehicle(report, ago: ago, hasLeft: hasLeft), at: now)
    }

    @Test func aVehicleThatIsWellOrTellsNothingHasNone() throws {
        let well = HealthReport(
            backlog: 3599, receiver: .fix, fixAge: 1, isGathering: true, disk: .ok,
            certificateEnd: 1_800_000_000 + 14 * 86_400)
        #expect(try troubles(well) == [])
        #expect(try troubles(nil) == [])
        #expect(try troubles(HealthReport()) == [])
    }

    @Test func aLossCountsForADay() throws {
        let losing = HealthReport(losses: [.bound: 5, .damaged: 5, .refused: 9], lossAge: 3600)
        #expect(try troubles(losing) == [.losing(.refused, points: 19)])
        let tie = HealthReport(losses: [.damaged: 5, .bound: 5], lossAge: 0)
        #expect(try troubles(tie) == [.losing(.bound, points: 10)])
        // The age of the report counts too, also of a vehicle that is off.
        #expect(try troubles(losing, ago: 86_400 - 3601, hasLeft: true) == [.losing(.refused, points: 19)])
        #expect(try troubles(losing, ago: 86_400 - 3600, hasLeft: true) == [])
        #expect(try troubles(HealthReport(losses: [.bound: 5])) == [])
    }

    @Test func aReceiverCountsWhilePointsAreWanted() throws {
        for receiver in HealthReport.Receiver.allCases {
            let isTrouble = [.away, .unreachable, .forbidden].contains(receiver)
            let wanted = HealthReport(receiver: receiver, fixAge: 5, isGathering: true)
            #expect(try troubles(wanted) == (isTrouble ? [.receiver(receiver)] : []), "\(receiver)")
            #expect(try troubles(HealthReport(receiver: receiver, fixAge: 5)) == [], "\(receiver)")
        }
    }

    @Test func aPositionMayBeMissingForAWhile() throws {
        func report(_ age: Int64?) -> HealthReport {
            HealthReport(receiver: .noFix, fixAge: age, isGathering: true)
        }
        #expect(try troubles(report(889)) == [])
        #expect(try troubles(report(890)) == [.noFix(900)])
        #expect(try troubles(report(nil)) == [.noFix(nil)])
    }

    /// Nobody but a person makes it gather again: also after days, and although it has said goodbye.
    @Test(arguments: [TrackingObstacle.serviceStopped, .gatheringOff])
    func aVehicleThatDoesNotGatherIsInTroubleForGood(_ obstacle: TrackingObstacle) throws {
        let report = HealthReport(receiver: .off, verdict: HealthReport.Verdict(obstacle: obstacle, age: 5))
        let isService = obstacle == .serviceStopped
        for (ago, hasLeft) in [(10, false), (10, true), (5 * 86_400, true)] as [(Int64, Bool)] {
            let since = now.adding(milliseconds: -(ago + 5) * 1000)
            #expect(
                try troubles(report, ago: ago, hasLeft: hasLeft) == [
                    .notGathering(since: since, isServiceStopped: isService)
                ])
        }
        #expect(try troubles(report, ago: 86_400).map(\.kind) == [.notGathering, .silent])
    }

    /// The vehicle judges itself, and the ages grow with the age of the report.
    @Test func aVehicleWithoutPointsIsInTrouble() throws {
        let report = HealthReport(
            receiver: .fix, fixAge: 0, isGathering: true,
            verdict: HealthReport.Verdict(obstacle: .notLater, age: 30, rejected: 30))
        #expect(try troubles(report, ago: 10) == [.noPoints(.notLater, rejected: 30, seconds: 40)])
        // How it was when it left says nothing.
        #expect(try troubles(report, ago: 10, hasLeft: true) == [])
    }

    @Test func wrongAndMissingDatesCountWhilePointsAreWanted() throws {
        let far = DateTrouble.disagreement(
            receiver: Timestamp(seconds: 2_066_860_800), clock: Timestamp(seconds: 1_795_737_600), isClockUsed: true)
        let today = Timestamp(seconds: 1_795_737_600)
        let two = DateTrouble.receivers(used: today, other: Timestamp(seconds: 2_066_860_800), device: "/dev/ttyUSB1")
        let standing = DateTrouble.standing(receiver: today, isClockUsed: false)
        for dates in [far, two, standing, .missing(isClockUsed: false), .missing(isClockUsed: true)] {
            // A vehicle that makes no points says so itself.
            let isTrouble = dates == far || dates == two
            let report = HealthReport(receiver: .fix, isGathering: true, dates: dates)
            #expect(try troubles(report) == (isTrouble ? [.dates(dates)] : []))
            #expect(try troubles(HealthReport(receiver: .fix, dates: dates)) == [])
        }
        #expect(
            "\(VehicleTrouble.dates(far))"
                == "the receiver's date is 2035-07-01; the computer's clock says 2026-11-27: points have the clock's time"
        )
        #expect(
            "\(two)" == "two receivers tell different dates: points have 2026-11-27; /dev/ttyUSB1 says 2035-07-01")
        #expect(
            "\(standing)"
                == "the receiver's clock stands still at 2026-11-27T00:00Z, and nobody keeps the computer's clock: no points are made"
        )
        // Times that go on are no news.
        let later = DateTrouble.disagreement(
            receiver: Timestamp(seconds: 2_066_860_900), clock: Timestamp(seconds: 1_795_737_700), isClockUsed: true)
        #expect(!HealthReport(dates: later).isUrgent(after: HealthReport(dates: far)))
        #expect(HealthReport(dates: far).isUrgent(after: HealthReport()))
    }

    @Test func everyDiskThatTakesNoPointsCounts() throws {
        for disk in HealthReport.Disk.allCases {
            let isTrouble = [.full, .readOnly, .refusing].contains(disk)
            #expect(try troubles(HealthReport(disk: disk)) == (isTrouble ? [.disk(disk)] : []), "\(disk)")
        }
    }

    @Test func silenceCountsAfterADayUnlessTheVehicleHasSaidGoodbye() throws {
        #expect(try troubles(nil, ago: 86_399) == [])
        #expect(try troubles(nil, ago: 86_400) == [.silent(86_400)])
        #expect(try troubles(nil, ago: 86_400, hasLeft: true) == [])
        // How it was a day ago says nothing any more.
        let broken = HealthReport(backlog: 9999, receiver: .away, isGathering: true, disk: .full)
        #expect(try troubles(broken, ago: 86_400) == [.silent(86_400)])
        #expect(try troubles(broken, ago: 100, hasLeft: true) == [])
        #expect(try troubles(broken, ago: 100).map(\.kind) == [.disk, .receiver, .behind])
        var early = rules
        early.silentAfter = 600
        #expect(early.troubles(of: try vehicle(broken, ago: 600), at: now) == [.silent(600)])
    }

    @Test func aCertificateCountsBeforeItsEnd() throws {
        func report(_ left: Int64) -> HealthReport { HealthReport(certificateEnd: 1_800_000_000 + left) }
        #expect(try troubles(report(14 * 86_400 - 1)) == [.certificate(14 * 86_400 - 1)])
        #expect(try troubles(report(-5), hasLeft: true) == [.certificate(-5)])
        #expect(try troubles(HealthReport(certificateEnd: .min)) == [])
    }

    @Test func theWorstComesFirst() throws {
        let all = HealthReport(
            backlog: 5000, losses: [.bound: 1], lossAge: 1, receiver: .away, isGathering: true, disk: .full,
            certificateEnd: 1)
        #expect(try troubles(all).map(\.kind) == [.losing, .disk, .receiver, .certificate, .behind])
        #expect(
            VehicleTrouble.Kind.allCases.map(\.rawValue) == [
                "cloned", "losing_points", "disk", "receiver", "login_refused", "no_points", "not_gathering", "dates",
                "silent", "certificate", "behind", "no_fix",
            ])
    }

    /// The server's clock went back.
    @Test func aReportOfTheFutureIsOneOfNow() throws {
        #expect(try troubles(HealthReport(receiver: .away, isGathering: true), ago: -500) == [.receiver(.away)])
    }

    @Test func onlyWhatAnOperatorMustHearIsNews() {
        let report = HealthReport(
            backlog: 1, losses: [.bound: 1], lossAge: 1, receiver: .fix, fixAge: 1, isGathering: true, disk: .ok)
        func changed(_ change: (inout HealthReport) -> Void) -> Bool {
            var other = report
            change(&other)
            return other.isUrgent(after: report)
        }
        #expect(!changed { ($0.backlog, $0.lossAge, $0.fixAge, $0.losses) = (9, 0, 9, [.bound: 2]) })
        #expect(changed { $0.losses = [:] })
        #expect(changed { $0.losses[.damaged] = 1 })
        #expect(changed { $0.receiver = .noFix })
        #expect(changed { $0.isGathering = false })
        #expect(changed { $0.disk = .full })
        #expect(changed { $0.certificateEnd = 5 })
    }
}
