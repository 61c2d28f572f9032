import Ingest
import JSON
import Testing
import TrackModel
import TrackStore

@testable import WebAPI

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
