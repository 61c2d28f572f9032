import JSON
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

@Suite struct KeyScopeTests {
    /// A bench whose key has these rights.
    private func bench(_ rights: KeyRights, secret: String? = nil) async throws -> Bench {
        let bench = try await Bench()
        try await bench.store.addKey(
            KeyGrant(AccessKey(Bench.key).hash, secret: secret, rights: rights), to: bench.service, replacing: false,
            at: Bench.now)
        return bench
    }

    /// What a key must open, call by call. A call that is missing here fails the test.
    private static let wanted: [String: KeyScopes] = {
        let read = [
            "entity/list", "entity/search", "entity/boundsearch", "entity/aroundsearch", "entity/polygonsearch",
            "entity/districtsearch", "entity/listcolumn", "track/listcolumn", "track/getlatestpoint",
            "track/getdistance", "track/gettrack", "analysis/staypoint", "analysis/drivingbehavior", "analysis/trips",
            "fence/list", "fence/listmonitoredperson", "fence/querystatus", "fence/querystatusbylocation",
            "fence/historyalarm", "fence/batchhistoryalarm", "fence/queryurl", "export/createjob", "export/getjob",
            "export/deletejob", "historysearch/createjob", "historysearch/getjob", "historysearch/deletejob",
            "toll/car", "toll/truck", "frequentroute/createjob", "frequentroute/getjob",
        ]
        let write = [
            "entity/add", "entity/update", "entity/delete", "entity/addcolumn", "entity/deletecolumn",
            "track/addcolumn", "track/deletecolumn", "track/addpoint", "track/addpoints", "fence/createcirclefence",
            "fence/createpolygonfence", "fence/createpolylinefence", "fence/createdistrictfence",
            "fence/updatecirclefence", "fence/updatepolygonfence", "fence/updatepolylinefence",
            "fence/updatedistrictfence", "fence/delete", "fence/addmonitoredperson", "fence/deletemonitoredperson",
            "fence/seturl", "fence/cancelurl",
        ]
        return Dictionary(uniqueKeysWithValues: read.map { ($0, .read) } + write.map { ($0, .write) })
    }()

    /// Calls that answer 240 to everybody.
    private static let unoffered = Set(UnofferedEndpoints.all.map(\.path))

    @Test func everyCallWantsItsScope() {
        for endpoint in Endpoint.all {
            #expect(Self.wanted[endpoint.path] == endpoint.scope, "\(endpoint.path)")
        }
        #expect(Set(Self.wanted.keys) == Set(Endpoint.all.map(\.path)))
    }

    @Test(arguments: [
        KeyScopes.read, .write, .admin, .legacyDevice, [.read, .write], [.read, .legacyDevice], [], .former,
    ])
    func everyCallIsRefusedToEveryKeyWithoutItsScope(scopes: KeyScopes) async throws {
        let bench = try await bench(KeyRights(scopes))
        for endpoint in Endpoint.all where !Self.unoffered.contains(endpoint.path) {
            let wanted = try #require(Self.wanted[endpoint.path])
            let isOpen = scopes.contains(wanted) || scopes.contains(.admin)
            for answer in [try await bench.get(endpoint.path), try await bench.post(endpoint.path, "x=1")] {
                #expect((answer.status != 240) == isOpen, "\(scopes.text): \(endpoint.path) \(answer)")
            }
        }
    }

    @Test func aRefusalNamesTheScopeAndNotTheKey() async throws {
        let reading = try await bench(KeyRights(.read)).post("entity/add", "entity_name=van")["message"]?.stringValue
        #expect(reading?.hasSuffix(": this access key may not write: it was made for read") == true, "\(reading ?? "")")
        let vehicle = try await bench(KeyRights(.legacyDevice)).get("entity/list")["message"]?.stringValue
        #expect(
            vehicle?.contains("is a vehicle's") == true && vehicle?.contains(Bench.key) == false, "\(vehicle ?? "")")
    }

    @Test func aKeyPastItsEndHasTheStatusOfADisabledOne() async throws {
        let ended = try await bench(KeyRights(.read, end: Bench.now))
        #expect(try await ended.get("entity/list").status == 201)
        let open = try await bench(KeyRights(.read, end: Bench.now.adding(milliseconds: 1)))
        #expect(try await open.get("entity/list").status == 3003)
        let target = "/api/v3/entity/list?ak=\(Bench.key)&service_id=1"
        #expect(await !ended.router.knowsKey(of: target))
        #expect(await open.router.knowsKey(of: target))
        // Nothing with it for a call that its key does not open.
        #expect(await !open.router.knowsKey(of: "/api/v3/track/addpoints?ak=\(Bench.key)&service_id=1"))
    }

    @Test func aKeyWithWhiteListsIsRefusedElsewhere() async throws {
        let bench = try await bench(
            KeyRights(
                .read, addresses: [try #require(AddressRange("192.0.2.0/24"))],
                referers: [try #require(RefererPattern("*.example.net"))]))
        func status(_ address: String?, _ referer: String?) async throws -> Int64? {
            try await bench.send(
                APIRequest(
                    method: "GET", target: "/api/v3/entity/list?ak=\(Bench.key)&service_id=1", address: address,
                    referer: referer)
            ).status
        }
        let page = "https://map.example.net/"
        #expect(try await status("192.0.2.9", page) == 3003)
        #expect(try await status("198.51.100.1", page) == 210)
        #expect(try await status(nil, page) == 210)
        #expect(try await status("192.0.2.9", "https://example.org/") == 220)
        #expect(try await status("192.0.2.9", nil) == 220)
    }

    @Test func theFileOfAnExportNeedsAKeyThatReads() async throws {
        for (scope, status) in [(KeyScopes.write, 403), (.read, 200)] {
            let bench = try await bench(KeyRights(scope))
            let order = ExportOrder(
                from: Timestamp(seconds: 1), through: Timestamp(seconds: 2), coordinateType: .wgs84)
            let token = ExportToken.random()
            let job = try await bench.store.addExport(order, token: token, in: bench.service, at: Bench.now)
            _ = try await bench.store.claimExport(by: 1, at: Bench.now, through: Bench.now.adding(milliseconds: 1000))
            _ = try await bench.store.settleExport(
                job.number, by: 1, ExportResult(points: 0, bytes: 1), at: Bench.now)
            let done = try #require(try await bench.store.export(token: token))
            let target = "\(ExportLink(done).url(from: nil))?ak=\(Bench.key)"
            let answer = await bench.router.respond(to: APIRequest(method: "GET", target: target))
            #expect(answer.httpStatus == status, "\(scope.text) \(target)")
        }
    }
}
