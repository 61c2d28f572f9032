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
                "two computers have its certificate: one is a copy of the other's disk, and neither may log in"
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
