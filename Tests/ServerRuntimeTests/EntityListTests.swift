import ProgramTestKit
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import ServerRuntime

/// Where the entities are, and which vehicles are online, as the server's own commands tell it.
@Suite struct EntityListTests {
    private let store: any TrackStore = TestStore()
    private let now = Timestamp(seconds: 1_772_677_800)

    private var administration: ServiceAdministration {
        ServiceAdministration(store: store)
    }

    private func vehicle(
        _ name: String, in service: ServiceID, heard seconds: Int64, device: DeviceID? = nil, hasLeft: Bool = false
    ) -> VehicleHealth {
        VehicleHealth(
            entity: EntityKey(service: service, name: name), heard: now.adding(milliseconds: -seconds * 1000),
            agentVersion: "1", device: device, hasLeft: hasLeft)
    }

    @Test(arguments: [(0, true), (199, true), (200, false), (86_400 * 21, false), (-5, true)] as [(Int64, Bool)])
    func aVehicleIsOnlineWhileItsSessionCanStand(seconds: Int64, isOnline: Bool) throws {
        let service = try #require(ServiceID(rawValue: 1))
        let key = EntityKey(service: service, name: "van")
        func presence(hasLeft: Bool = false, isServing: Bool = true) -> Presence {
            Presences(
                [vehicle("van", in: service, heard: seconds, hasLeft: hasLeft)], silence: 200_000, isServing: isServing,
                at: now)[key]
        }
        #expect(presence().isOnline == isOnline)
        // Who has said goodbye is not online, and nobody is while no server runs. Both were heard all the same.
        #expect(!presence(hasLeft: true).isOnline && !presence(isServing: false).isOnline)
        #expect(presence(hasLeft: true).heard == now.adding(milliseconds: -seconds * 1000))
        #expect(Presences([], silence: 200_000, isServing: true, at: now)[key].heard == nil)
    }

    @Test func whatAnotherDeviceSaidIsNotHeardOfThisOne() throws {
        let service = try #require(ServiceID(rawValue: 1))
        var generator = SystemRandomNumberGenerator()
        let (own, other) = (DeviceID.random(using: &generator), DeviceID.random(using: &generator))
        var device = DeviceRecord(
            id: own, service: service, entity: "van", keyHash: [], created: now, certificateEnd: now)
        func presence(from speaker: DeviceID?) -> Presence {
            Presences(
                [vehicle("van", in: service, heard: 1, device: speaker)], silence: 200_000, isServing: true, at: now)[
                    device]
        }
        #expect(presence(from: own).isOnline && !presence(from: other).isOnline && presence(from: other).heard == nil)
        #expect(presence(from: nil).heard == nil)
        device.state = .revoked
        #expect(!presence(from: own).isOnline && presence(from: own).heard != nil)
    }

    @Test func entitiesAreListedWithTheirPlacesInWGS84() async throws {
        let first = try await store.createService(named: "Fleet", at: now).id
        let second = try await store.createService(named: "Other", at: now).id
        for name in ["bus", "van"] { try await store.addEntity(NewEntity(name: name), in: first, at: now) }
        try await store.addEntity(NewEntity(name: "van"), in: second, at: now)
        // The same place in the datum of Chinese maps: 39.9, 116.4 of WGS 84.
        let shown = try #require(Coordinate(latitude: 39.901_403, longitude: 116.406_244))
        let point = TrackPoint(
            Fix(time: now.adding(milliseconds: -5000), coordinate: shown, speed: 1000), coordinateType: .gcj02)
        _ = await store.ingest([
            IngestBatch(
                service: first, entity: "van", position: nil, points: [point], sequences: [], payload: nil,
                received: now)
        ])
        let presences = Presences([vehicle("van", in: first, heard: 3)], silence: 200_000, isServing: true, at: now)
        let lines = try await administration.entities(of: nil, named: [], presences)
        #expect(lines.map { "\($0.service.rawValue) \($0.entity.name)" } == ["1 bus", "1 van", "2 van"])
        #expect(lines.map(\.presence.isOnline) == [false, true, false])
        #expect(lines[0].place == nil && lines[2].place == nil)
        let place = try #require(lines[1].place)
        #expect(abs(place.latitude - 39.9) < 2e-5 && abs(place.longitude - 116.4) < 2e-5, "\(place)")
        #expect(lines[1].speed == 36)

        let some = try await administration.entities(of: second.rawValue, named: ["van"], presences)
        #expect(some.map(\.service) == [second])
        let missing = await #expect(throws: ServerError.self) {
            try await administration.entities(of: nil, named: ["van", "truck"], presences)
        }
        #expect(missing?.detail.contains("truck") == true)
    }
}
