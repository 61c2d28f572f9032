import Geodesy
import JSON
import Logging
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import SakerCommand
@testable import WebAPI

/// A made-up track of up to a day in a real Web API, which answers in one request or in parts.
struct ServedTrack {
    static let begin: Int64 = 1_772_600_000
    static let longest: Int64 = 86_400

    let points: [TrackPoint]
    let range: ClosedRange<Int64>
    private let router: APIRouter
    private let service: ServiceID
    private let ingest: RunningIngest

    init(_ points: [TrackPoint], through end: Int64) async throws {
        self.points = points
        range = Self.begin...end
        let store = TestStore()
        let now = Timestamp(seconds: end + 3600)
        ingest = RunningIngest(store)
        service = try await store.createService(named: "demo", at: now).id
        try await store.addKey(AccessKey("key").hash, secret: nil, to: service, replacing: false, at: now)
        let outcome = await store.ingest([
            IngestBatch(
                service: service, entity: "van", position: nil, points: points, sequences: [], payload: nil,
                received: now)
        ])
        try #require(outcome.map(\.withoutVersion) == [.stored(through: 0)])
        router = APIRouter(
            store: store, ingest: ingest.writer, options: WebAPIOptions(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, roads: nil, now: { now })
    }

    /// As ``TrackRangeOptions`` asks, but no more than `longest` seconds at once.
    func ask(_ longest: Int64) -> RangeAsk {
        { path, range, parameters in
            #expect(range.upperBound - range.lowerBound <= longest, "a part of \(range)")
            var form = [
                ("ak", "key"), ("service_id", String(service.rawValue)), ("entity_name", "van"),
                ("coord_type_output", "wgs84"), ("start_time", String(range.lowerBound)),
                ("end_time", String(range.upperBound)),
            ]
            form += parameters
            let query = form.map { "\($0.0)=\(FormText.encoded($0.1))" }.joined(separator: "&")
            let answer = await router.respond(to: APIRequest(method: "GET", target: "/api/v3/\(path)?\(query)"))
            let value = try JSONReader.value(of: answer.body, JSONRules(maximumBytes: 64 << 20, maximumValues: .max))
            #expect(value["status"] == 0, "\(value)")
            return value
        }
    }
}

/// Makes drives and stops.
struct TrackMaker {
    private(set) var points: [TrackPoint] = []
    private(set) var time = ServedTrack.begin
    private var (east, north, course) = (0.0, 0.0, 0.0)
    private var dice: SplitMix

    init(seed: UInt64) { dice = SplitMix(state: seed) }

    mutating func chance(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &dice) }

    private mutating func put(_ speed: Double, noise: Double, moved: Double = 0) {
        let east = east + Double.random(in: -noise...noise, using: &dice) + moved
        let north = north + Double.random(in: -noise...noise, using: &dice)
        guard let place = Coordinate(latitude: 52 + north / 111_320, longitude: 4 + east / 68_500) else { return }
        points.append(
            TrackPoint(
                Fix(
                    time: Timestamp(seconds: time), coordinate: place, speed: Int32(speed * 100), accuracy: 50),
                coordinateType: .wgs84))
    }

    /// A point every so many seconds.
    mutating func drive(_ seconds: Int64, every interval: Int64 = 10) {
        let end = time + seconds
        var speed = 10.0
        while time < end {
            course += Double.random(in: -0.3...0.3, using: &dice)
            speed = min(max(speed + Double.random(in: -8...8, using: &dice), 4), 30)
            east += speed * Double(interval) * sinus(course)
            north += speed * Double(interval) * sinus(course + 1.5708)
            time += interval
            // Now and then a point where the vehicle cannot be.
            put(speed, noise: 2, moved: chance(0...199) == 0 ? 9000 : 0)
        }
    }

    private func sinus(_ angle: Double) -> Double {
        let turn = (angle / 6.283185).rounded(.down)
        let x = angle - turn * 6.283185 - 3.141593
        return -4 * x / 3.141593 * (1 - abs(x) / 3.141593)
    }

    mutating func stand(_ seconds: Int64, every interval: Int64 = 30) {
        let end = time + seconds
        while time + interval <= end {
            time += interval
            put(0, noise: 3)
        }
    }

    mutating func silence(_ seconds: Int64, moving metres: Double = 0) {
        time += seconds
        east += metres
    }

    /// A day's half of drives, stops with and without points, and silences.
    static func random(seed: UInt64, seconds: Int64) -> [TrackPoint] {
        var maker = TrackMaker(seed: seed)
        while maker.time < ServedTrack.begin + seconds {
            switch maker.chance(0...9) {
            case 0...3: maker.drive(maker.chance(300...5400))
            case 4...5: maker.stand(maker.chance(120...1500))
            case 6: maker.stand(maker.chance(3600...25_000))
            case 7:
                maker.stand(maker.chance(30...900))
                maker.silence(maker.chance(300...30_000))
                maker.stand(maker.chance(30...900))
            case 8: maker.silence(maker.chance(60...9000), moving: Double(maker.chance(0...20_000)))
            default: maker.stand(60, every: 5)
            }
        }
        let end = Timestamp(seconds: ServedTrack.begin + seconds)
        return maker.points.filter { $0.fix.time <= end }
    }
}
