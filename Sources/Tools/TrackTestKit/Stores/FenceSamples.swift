import Geodesy
import Geofencing
import TrackModel
import TrackStore

extension FenceDefinition {
    /// A circle of 100 m around a place in the tests' country.
    static func sample(_ name: String, watching names: [String] = [], radius: Double = 100) throws -> FenceDefinition {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 52.25, longitude: 4.5), radius: radius)))
        definition.name = name
        definition.watch = try FenceWatch(names)
        return definition
    }

    static func everyone(_ name: String) throws -> FenceDefinition {
        var definition = try sample(name)
        definition.watch = .everyone
        return definition
    }
}

extension Alarm {
    /// An alarm at a second of the tests' time; different `mark`s have different keys.
    static func sample(
        _ seconds: Int64, mark: UInt8, fence: Int32 = 1, action: FenceAction = .enter
    ) throws -> Alarm {
        let key = AlarmKey(bytes: [UInt8](repeating: mark, count: 15) + [UInt8(truncatingIfNeeded: seconds)])
        guard let key, let place = Coordinate(latitudeE7: 522_500_000, longitudeE7: 45_000_000) else {
            throw ContractViolation(description: "the sample must have a key and a place")
        }
        return Alarm(
            key: key, source: .server, fence: fence, revision: 2, name: "depot", group: mark % 2 == 0 ? "yard" : nil,
            action: action,
            point: AlarmPoint(
                time: .at(seconds), place: place, accuracy: mark % 2 == 0 ? nil : 35, speed: 1200,
                received: .at(seconds + 1)),
            previous: mark % 3 == 0
                ? nil
                : AlarmPoint(time: .at(seconds - 5), place: place, accuracy: 40, received: .at(seconds - 3)),
            crossing: Crossing(
                time: .at(seconds - 1), place: place, isEstimated: mark % 2 == 0, earliest: .at(seconds - 5),
                latest: .at(seconds)),
            inside: action == .exit ? 12_500 : nil, skipped: Int(mark % 5),
            speedLimit: action == .overspeed ? 1389 : nil, parameters: mark % 2 == 0 ? "{\"vid\":7}" : nil)
    }
}

extension TrackStoreSubject {
    /// A new store with one service of three entities: bus, truck, van.
    func withFleet() async throws -> (store: any TrackStore, service: ServiceID) {
        let (store, service) = try await withService()
        for name in ["van", "bus", "truck"] { try await store.haveEntity(named: name, in: service, at: .at(0)) }
        return (store, service)
    }
}
