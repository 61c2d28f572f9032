import Foundation
import Ingest
import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

@Suite struct ChangeQuotaTests {
    private static let now = Bench.now
    private let service: ServiceID
    private var van: ChangeQuotas.Sender { vehicle("van") }

    init() throws { service = try #require(ServiceID(rawValue: 1)) }

    private func vehicle(_ name: String) -> ChangeQuotas.Sender { .vehicle(EntityKey(service: service, name: name)) }

    @Test func aSenderHasSoManyAtOnceAndThenOneAfterTheOther() {
        var quotas = ChangeQuotas()
        for _ in 0..<2000 { #expect(quotas.begin(van, at: Self.now) == nil) }
        #expect(quotas.begin(van, at: Self.now) == 5)
        #expect(quotas.begin(van, at: Self.now.adding(milliseconds: 4999)) == 1)
        #expect(quotas.begin(van, at: Self.now.adding(milliseconds: 5000)) == nil)
        #expect(quotas.begin(van, at: Self.now.adding(milliseconds: 5000)) == 5)
        // Others have their own.
        #expect(quotas.begin(.keys(service), at: Self.now) == nil)
        #expect(quotas.begin(vehicle("bus"), at: Self.now) == nil)
    }

    @Test func aLargeChangeTakesMoreThanThereIs() {
        var quotas = ChangeQuotas()
        #expect(quotas.begin(.keys(service), at: Self.now) == nil)
        quotas.charge(1_000_499, to: .keys(service), at: Self.now)
        // 500 units too many, and 200 ms for one more.
        #expect(quotas.begin(.keys(service), at: Self.now) == 101)
        #expect(quotas.begin(.keys(service), at: Self.now.adding(milliseconds: 100_200)) == nil)
    }

    @Test func aClockThatIsSetBackKeepsNobodyOut() {
        var quotas = ChangeQuotas()
        for _ in 0..<2000 { #expect(quotas.begin(van, at: Self.now) == nil) }
        let past = Self.now.adding(milliseconds: -400 * 86_400_000)
        #expect(quotas.begin(van, at: past) == 5)
        quotas.charge(1, to: van, at: past)
        #expect(quotas.begin(van, at: past.adding(milliseconds: 9999)) == 1)
        #expect(quotas.begin(van, at: past.adding(milliseconds: 10_000)) == nil)
    }

    @Test func sendersHaveABound() {
        var quotas = ChangeQuotas(mostSenders: 100)
        for number in 0..<300 {
            let sender = vehicle("van_\(number)")
            if number == 0 { quotas.charge(1000, to: sender, at: Self.now) }
            #expect(quotas.begin(sender, at: Self.now) == nil)
        }
        #expect(quotas.count <= 100)
        // Who has spent most is remembered: nobody gets his quota back by the help of others.
        quotas.charge(999, to: vehicle("van_0"), at: Self.now)
        #expect(quotas.begin(vehicle("van_0"), at: Self.now) != nil)
    }

    // MARK: Calls

    @Test func aKeyThatChangesOneFenceAgainAndAgainIsHeldUp() async throws {
        let bench = try await Bench()
        let circle = "latitude=40&longitude=116&radius=5&coord_type=wgs84"
        let made = try await bench.post("fence/createcirclefence", circle)
        #expect(made.status == 0)
        // A fence of nearly 100,000 names is some 2.6 MB, and each change keeps it.
        let names = (0..<200).map { "van_\($0)" }
        for name in names { try await bench.upload(name, [try point(1_772_677_800, 30, 104)]) }
        for part in [names[..<100], names[100...]] {
            let added = try await bench.post(
                "fence/addmonitoredperson", "fence_id=1&monitored_person=\(part.joined(separator: ","))")
            #expect(added.status == 0, "\(added)")
        }
        var changes = 0
        bench.router.changeLimiter.charge(999_900, to: Caller(service: bench.service, entity: nil), at: Bench.now)
        while changes < 1000 {
            let answer = try await bench.post("fence/updatecirclefence", "fence_id=1&radius=\(changes % 2 + 6)")
            guard answer.status == 0 else {
                #expect(answer.status == 401)
                #expect(answer["message"]?.stringValue?.contains("try again in 1 s") == true)
                break
            }
            changes += 1
        }
        // 200 names of some 9 bytes and the rest are 3 units of 512 bytes, and each call is one.
        #expect((20...40).contains(changes), "\(changes)")
        // What changes no fence goes on.
        #expect(try await bench.get("fence/list", "fence_ids=1").status == 0)
        #expect(try await bench.post("entity/update", "entity_name=van_1&entity_desc=x").status == 0)
        #expect(try await bench.post("fence/delete", "fence_ids=1").status == 401)
    }

    /// A change of a polygon with 60 vertices leaves 4.8 KB, of one with 30 it leaves 0.8 KB: as many units are refused sooner.
    @Test func aLargeFenceTakesAsMuchAsItLeaves() async throws {
        var changes: [Int: Int] = [:]
        for vertices in [30, 60] {
            let bench = try await Bench()
            let corners = (0..<vertices).map { index in
                let angle = Double(index) * 2 * .pi / Double(vertices)
                return "\(40 + 0.01 * sin(angle)),\(116 + 0.01 * cos(angle))"
            }
            let shape = "vertexes=\(corners.joined(separator: ";"))&coord_type=wgs84"
            let made = try await bench.post("fence/createpolygonfence", shape)
            let number = try #require(made["fence_id"]?.integerValue)
            bench.router.changeLimiter.charge(999_900, to: Caller(service: bench.service, entity: nil), at: Bench.now)
            while try await bench.post("fence/updatepolygonfence", "fence_id=\(number)&\(shape)").status == 0 {
                changes[vertices, default: 0] += 1
                guard changes[vertices, default: 0] < 200 else { break }
            }
        }
        let (small, large) = (try #require(changes[30]), try #require(changes[60]))
        #expect(small >= 6 * large && small > 50, "\(changes)")
    }

    /// A hundred names that a fence watches no more leave 30 KB.
    @Test func namesThatGoTakeWhatTheyLeave() async throws {
        let bench = try await Bench()
        let names = (0..<100).map { "van_\($0)" }
        for name in names { try await bench.upload(name, [try point(1_772_677_800, 30, 104)]) }
        let circle = "latitude=40&longitude=116&radius=5&coord_type=wgs84"
        #expect(try await bench.post("fence/createcirclefence", circle).status == 0)
        let persons = "fence_id=1&monitored_person=\(names.joined(separator: ","))"
        bench.router.changeLimiter.charge(999_900, to: Caller(service: bench.service, entity: nil), at: Bench.now)
        var rounds = 0
        while rounds < 50, try await bench.post("fence/addmonitoredperson", persons).status == 0,
            try await bench.post("fence/deletemonitoredperson", persons).status == 0
        {
            rounds += 1
        }
        // 100 units: 3 for the calls and the names' bytes, 59 for the rows.
        #expect((1...2).contains(rounds), "\(rounds)")
    }

    /// Each removal has a line in the log, which tells what is gone.
    @Test func aSenderThatRemovesWithoutEndIsHeldUp() async throws {
        let bench = try await Bench()
        let keys = Caller(service: bench.service, entity: nil)
        let vehicle = Caller(service: bench.service, entity: "van")
        func add() async throws {
            for path in ["entity/addcolumn", "track/addcolumn"] {
                #expect(try await bench.post(path, "column_key=fuel&column_type=3").status == 0)
            }
            #expect(try await bench.post("entity/add", "entity_name=van").status == 0)
        }
        let removals = [
            ("entity/deletecolumn", "column_key"), ("track/deletecolumn", "column_key"),
            ("entity/delete", "entity_name"),
        ]
        try await add()
        bench.router.changeLimiter.charge(999_997, to: keys, at: Bench.now)
        for status: Int64 in [0, 401] {
            for (path, parameter) in removals {
                let value = parameter == "column_key" ? "fuel" : "van"
                #expect(try await bench.post(path, "\(parameter)=\(value)").status == status, "\(path)")
            }
            // What is made is no removal.
            if status == 0 { try await add() }
        }
        bench.router.changeLimiter.charge(1997, to: vehicle, at: Bench.now)
        for status in [0, 401] {
            for (path, parameter) in removals {
                let answer = await bench.router.call(
                    service: bench.service, entity: "van", path: path,
                    parameters: [parameter: parameter == "column_key" ? "fuel" : "van"], policy: .service)
                #expect(answer.status == status, "\(path)")
            }
        }
    }

    @Test func aVehicleThatChangesItsEntityAgainAndAgainIsHeldUp() async throws {
        let bench = try await Bench()
        try await bench.upload("van", [try point(1_772_677_800, 30, 104)])
        func call(_ path: String, _ parameters: [String: String]) async -> Int {
            await bench.router.call(
                service: bench.service, entity: "van", path: path, parameters: parameters, policy: .entity
            ).status
        }
        bench.router.changeLimiter.charge(1998, to: Caller(service: bench.service, entity: "van"), at: Bench.now)
        #expect(await call("entity/update", ["entity_desc": "1"]) == 0)
        // A refusal by the policy takes nothing.
        #expect(await call("entity/update", ["entity_name": "bus", "entity_desc": "2"]) == 240)
        #expect(await call("entity/update", ["entity_desc": "2"]) == 0)
        #expect(await call("entity/update", ["entity_desc": "3"]) == 401)
        #expect(await call("track/getlatestpoint", [:]) == 0)
        #expect(
            await call("track/addpoint", ["latitude": "1", "longitude": "2", "loc_time": "1772677000"]) == 0)
    }
}

@Suite struct KeyQuotaTests {
    private static func key(_ name: String, _ service: Int64 = 1) throws -> AccessKeyUse {
        AccessKeyUse(service: try #require(ServiceID(rawValue: service)), hash: AccessKey(name).hash)
    }

    /// 2026-03-05 23:59:59 in Beijing.
    private static let evening = Timestamp(seconds: 1_772_726_399)

    @Test func aDayHasSoManyRequestsAndBeginsAtMidnight() throws {
        var quotas = KeyQuotas(.init(daily: 2), zoneMinutes: 480)
        let (one, other) = (try Self.key("a"), try Self.key("b"))
        for _ in 0..<2 {
            #expect(quotas.begin(one, at: Self.evening) == nil)
            quotas.end(one)
        }
        #expect(quotas.begin(one, at: Self.evening)?.status == .dailyQuota)
        #expect(quotas.begin(other, at: Self.evening) == nil)
        #expect(quotas.begin(try Self.key("a", 2), at: Self.evening) == nil)
        // A clock that is set back is no new day; the next second is one.
        #expect(quotas.begin(one, at: Self.evening.adding(milliseconds: -86_400_000))?.status == .dailyQuota)
        #expect(quotas.begin(one, at: Self.evening.adding(milliseconds: 1000)) == nil)
    }

    @Test func soManyRequestsAtTheSameTime() throws {
        var quotas = KeyQuotas(.init(daily: 3, concurrent: 2), zoneMinutes: 0)
        let key = try Self.key("a")
        #expect(quotas.begin(key, at: Self.evening) == nil && quotas.begin(key, at: Self.evening) == nil)
        // What is refused does not count.
        for _ in 0..<9 { #expect(quotas.begin(key, at: Self.evening)?.status == .concurrencyQuota) }
        quotas.end(key)
        #expect(quotas.begin(key, at: Self.evening) == nil)
        quotas.end(key)
        quotas.end(key)
        #expect(quotas.begin(key, at: Self.evening)?.status == .dailyQuota)
    }

    @Test func aKeyIsCountedAndAVehicleIsNot() async throws {
        let bench = try await Bench(WebAPIOptions(dailyQuota: 3))
        for path in ["entity/list", "track/getdistance"] { _ = try await bench.get(path) }
        // Without a valid key nothing is counted.
        let stranger = APIRequest(method: "GET", target: "/api/v3/entity/list?ak=other&service_id=1")
        #expect(try await bench.send(stranger).status == 200)
        #expect(try await bench.get("track/listcolumn").status == 0)
        let refused = try await bench.get("track/listcolumn")
        #expect(refused.status == 302)
        #expect(refused["message"]?.stringValue?.contains("daily_quota") == true)
        let (status, _) = await bench.router.call(
            service: bench.service, entity: "van", path: "track/listcolumn", parameters: [:], policy: .service)
        #expect(status == 0)
    }

    @Test func callsThatAreNotOfferedSayIt() async throws {
        let bench = try await Bench()
        for path in ["toll/car", "toll/truck"] {
            #expect(try await bench.get(path, "entity_name=van").status == 240)
        }
        #expect(try await bench.get("toll/ship").status == 260)
    }
}
