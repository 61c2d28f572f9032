import Geofencing
import JSON
import Testing
import TrackModel
import TrackStore

@testable import AlarmCallbacks

@Suite struct CallbackTests {
    private let one: ServiceID
    private let now = Timestamp(seconds: 1_772_677_900)

    init() throws { one = try #require(ServiceID(rawValue: 1)) }

    private func services(_ numbers: ClosedRange<Int64>) -> [ServiceID] {
        numbers.compactMap(ServiceID.init(rawValue:))
    }

    private func record(_ number: Int64) throws -> AlarmRecord {
        let place = try #require(Coordinate(latitude: 40.0404827, longitude: 116.3008443))
        let point = AlarmPoint(time: now, place: place, accuracy: 46, received: now.adding(milliseconds: 1000))
        let key = try #require(AlarmKey(bytes: [UInt8](repeating: UInt8(number), count: 16)))
        return AlarmRecord(
            number: number, entity: "van_07",
            alarm: Alarm(
                key: key, source: .server, fence: 15, revision: 1, name: "depot", action: .enter, point: point,
                crossing: Crossing(time: now, place: place, isEstimated: true, earliest: now, latest: now)),
            received: now)
    }

    private func claim(_ tried: [Timestamp?]) throws -> CallbackClaim {
        CallbackClaim(
            target: CallbackTarget(url: "https://a.example/", secret: "s"),
            callbacks: try tried.enumerated().map {
                QueuedCallback(alarm: try record(Int64($0.offset + 1)), firstTried: $0.element)
            })
    }

    // MARK: Whose turn it is

    @Test func servicesWhoseURLsFailLeaveRoomForTheOthers() {
        var machine = CallbackMachine()
        for service in services(1...30) { _ = machine.note(.failed("silent"), of: service) }
        #expect(machine.begin(services(1...30), at: now) == services(1...8))
        #expect(machine.begin(services(1...60), at: now) == services(31...38))
        for service in services(1...8) { machine.end(service) }
        #expect(machine.begin(services(1...60), at: now) == services(39...46))
    }

    @Test func aServiceHasAPlaceWhileManyOthersFillTheirs() {
        var places = ServicePlaces(5, ofService: 3, shared: 3)
        let services = services(1...5)
        for _ in 0..<3 { #expect(places.begin(of: services[0]) == nil) }
        #expect(places.begin(of: services[0]) == .service)
        // No second place any more, and a first one for two services.
        #expect(places.begin(of: services[1]) == nil)
        #expect(places.begin(of: services[1]) == .all)
        #expect(places.begin(of: services[2]) == nil)
        #expect(places.begin(of: services[3]) == .all)
        // Whoever has no place gives none back.
        places.end(of: services[4])
        #expect(places.begin(of: services[3]) == .all)
        places.end(of: services[0])
        #expect(places.begin(of: services[0]) == .all)
        #expect(places.begin(of: services[3]) == nil)
        for service in [0, 0, 1, 2, 3] { places.end(of: services[service]) }
        #expect(places == ServicePlaces(5, ofService: 3, shared: 3))
    }

    @Test func checksAndQuestionsOfManyServicesRefuseNoOther() {
        // As many services as wish, whose servers are silent.
        var (checks, lookups) = (CallbackRules.checks, NameLookups())
        for service in services(1...40) {
            for _ in 0..<3 {
                _ = checks.begin(of: service)
                _ = lookups.begin(of: service, host: "a.example")
            }
        }
        let other = services(50...50)[0]
        #expect(checks.begin(of: other) == nil)
        #expect(lookups.begin(of: other, host: "b.example") == nil)
        #expect(lookups.begin(of: services(1...1)[0], host: "a.example")?.contains("a.example") == true)
        for service in services(60...99) { _ = lookups.begin(of: service, host: "a.example") }
        #expect(lookups.begin(of: services(100...100)[0], host: "b.example")?.contains("b.example") == true)
        lookups.end(of: other)
        #expect(lookups.begin(of: services(100...100)[0], host: "b.example") == nil)
    }

    @Test func eachServiceHasItsTurnAndNoneHasTwoAtOnce() {
        var machine = CallbackMachine()
        let due = services(1...40)
        #expect(machine.begin(due, at: now) == services(1...16))
        #expect(machine.begin(due, at: now) == [])
        for service in services(1...4) { machine.end(service) }
        #expect(machine.begin(due, at: now) == services(17...20))
        for service in services(5...20) { machine.end(service) }
        // 1 to 4 are due again and wait until all others had their turn.
        #expect(machine.begin(due, at: now) == services(21...36))
        for service in services(21...36) { machine.end(service) }
        #expect(machine.begin(due, at: now) == services(37...40) + services(1...12))
    }

    @Test func aServiceWhoseQueueCannotBeReadWaits() {
        var machine = CallbackMachine()
        _ = machine.begin([one], at: now)
        machine.hold(one, at: now)
        machine.end(one)
        #expect(machine.begin([one], at: now.adding(milliseconds: 14_999)) == [])
        #expect(machine.begin([one], at: now.adding(milliseconds: 15_000)) == [one])
    }

    @Test func onlyChangesAreNews() {
        var machine = CallbackMachine()
        #expect(machine.note(.taken, of: one) == nil)
        #expect(machine.note(.failed("x"), of: one) == .failing("x"))
        #expect(machine.note(.failed("y"), of: one) == nil)
        #expect(machine.note(.taken, of: one) == .working)
        #expect(machine.note(.taken, of: one) == nil)
    }

    // MARK: What becomes of alarms

    @Test func whatIsTakenEndsAndWhatFailsWaitsForTenMinutes() throws {
        let before = { (seconds: Int64) in self.now.adding(milliseconds: -seconds * 1000) }
        let claim = try claim([before(601), before(600), before(599), nil])
        let taken = CallbackMachine.settlement(of: claim, in: one, .taken, at: now)
        #expect(taken.ended == [1, 2, 3, 4] && taken.failed == [] && taken.retryAt == nil)
        let failed = CallbackMachine.settlement(of: claim, in: one, .failed("x"), at: now)
        #expect(failed.ended == [1, 2] && failed.failed == [3, 4])
        #expect(failed.retryAt == now.adding(milliseconds: 15_000) && failed.time == now)
        let released = CallbackMachine.release(claim, of: one, at: now)
        #expect(released.ended == [] && released.failed == [1, 2, 3, 4] && released.retryAt == nil)
    }

    // MARK: What is sent

    @Test func theBodyIsAsThePublishedServiceSendsIt() throws {
        #expect(
            String(decoding: CallbackBody.check(of: one), as: UTF8.self) == #"{"type":1,"service_id":1,"content":[]}"#)
        let text = String(decoding: CallbackBody.alarms([try record(1), try record(2)], of: one), as: UTF8.self)
        let value = try JSONReader.value(of: Array(text.utf8))
        #expect(value["type"]?.integerValue == 2)
        #expect(value["content"]?.arrayValue?.count == 2)
        let alarm = try #require(value["content"]?.arrayValue?.first)
        #expect(alarm["fence_id"]?.integerValue == 15 && alarm["monitored_person"]?.stringValue == "van_07")
        #expect(alarm["action"]?.stringValue == "enter" && alarm["pre_point"] == nil)
        #expect(alarm["key"]?.stringValue == String(repeating: "01", count: 16))
        let point = try #require(alarm["alarm_point"])
        #expect(point["coord_type"]?.stringValue == "bd09ll" && point["radius"]?.integerValue == 5)
        #expect(point["loc_time"]?.integerValue == now.seconds && point["create_time"]?.integerValue == now.seconds + 1)
        // The reference's place, given in BD-09.
        #expect(abs((point["latitude"]?.doubleValue ?? 0) - 40.0478) < 1e-6)
        #expect(abs((point["longitude"]?.doubleValue ?? 0) - 116.3134) < 1e-6)
    }

    /// The vector of docs/web-api.md.
    @Test func theSignatureIsTheOneThatTheDocumentShows() {
        #expect(
            CallbackSignature.value(of: CallbackBody.check(of: one), at: 1_772_677_900, secret: "0123456789abcdef")
                == "sha256=d20eb73f037dfd303b7995b0c50b0c358ad13928a2b89bf4b19d29aab9a8e312")
    }

    private static let answers: [(Int, String?, String, String?)] = [
        (200, "baidu_yingyan", #"{"status":0,"message":"成功"}"#, nil),
        (200, "baidu_yingyan", #"{"status":1}"#, "status"), (200, "baidu_yingyan", "[0]", "JSON object"),
        (200, "baidu_yingyan", "", "JSON object"), (200, "x", #"{"status":0}"#, "SignId"),
        (200, nil, #"{"status":0}"#, "SignId"), (302, "baidu_yingyan", #"{"status":0}"#, "302"),
        (201, "baidu_yingyan", #"{"status":0}"#, "201"),
    ]

    @Test(arguments: answers)
    func onlyOneKindOfAnswerCounts(_ status: Int, _ sign: String?, _ body: String, _ words: String?) {
        let answer = CallbackAnswer(status: status, signID: sign, body: Array(body.utf8))
        switch answer {
        case .taken: #expect(words == nil)
        case .failed(let reason): #expect(words.map(reason.contains) ?? false, "\(reason)")
        }
    }

    // MARK: URLs and addresses

    @Test(arguments: [
        ("http://a.example", "http://a.example:80/"),
        ("HTTPS://A.Example:8443/x/y?z=1", "https://a.example:8443/x/y?z=1"),
        ("https://[2001:DB8::1]/x", "https://[2001:db8::1]:443/x"), ("http://192.0.2.1:81?q", "http://192.0.2.1:81/?q"),
        ("http://a_b-c.example/%20", "http://a_b-c.example:80/%20"),
    ])
    func urlsAreReadInOneWay(_ text: String, _ normal: String) throws {
        #expect(try CallbackURL(text).text == normal)
        #expect(try CallbackURL(normal).text == normal)
    }

    @Test(arguments: [
        "", "a.example", "ftp://a.example/", "http:///x", "http://", "http://user@a.example/", "http://a.example@b/",
        "http://a:b@c/", "http://a.example:0/", "http://a.example:65536/", "http://a.example:/", "http://a.example:8a/",
        "http://a .example/", "http://a.example/ ", "http://a.example/#x", "http://a.example\\@b/", "http://[::1",
        "http://[::1]x/", "http://[127.0.0.1]/", "http://a..b/", "http://-a/", "http://.a/", "http://%6c/", "http://ä/",
        "http://a.example/\r\nX: y", "http://[fe80::1%25eth0]/", "//a.example/", "http:/a", "http://a.example:443:80/",
    ])
    func whatIsNoPlainURLIsRefused(_ text: String) {
        #expect(throws: CallbackURL.Problem.self) { try CallbackURL(text) }
    }

    @Test func aLongURLIsRefused() {
        #expect(throws: CallbackURL.Problem.self) { try CallbackURL("http://a/" + String(repeating: "x", count: 1016)) }
        #expect(throws: Never.self) { try CallbackURL("http://a/" + String(repeating: "x", count: 1015)) }
    }

    @Test(arguments: [
        ([8, 8, 8, 8], true), ([172, 15, 0, 1], true), ([172, 16, 0, 1], false), ([172, 31, 255, 255], false),
        ([172, 32, 0, 1], true), ([10, 1, 2, 3], false), ([127, 8, 8, 8], false), ([0, 0, 0, 0], false),
        ([169, 254, 169, 254], false), ([192, 168, 1, 1], false), ([100, 64, 0, 1], false), ([100, 128, 0, 1], true),
        ([224, 0, 0, 1], false), ([255, 255, 255, 255], false), ([223, 255, 255, 255], true), ([198, 18, 0, 1], false),
        ([1, 2, 3], false),
    ])
    func addressesOfThePublicInternetAreTold(_ bytes: [UInt8], _ isPublic: Bool) {
        #expect(PublicAddress.isPublic(bytes) == isPublic)
        guard bytes.count == 4 else { return }
        // The same address in IPv6: mapped, translated, 6to4.
        #expect(PublicAddress.isPublic([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes) == isPublic)
        #expect(PublicAddress.isPublic([0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8) + bytes) == isPublic)
        #expect(PublicAddress.isPublic([0x20, 0x02] + bytes + [UInt8](repeating: 1, count: 10)) == isPublic)
    }

    @Test func addressesOfIPv6AreTold() {
        func address(_ head: [UInt8], last: UInt8 = 1) -> [UInt8] {
            head + [UInt8](repeating: 0, count: 15 - head.count) + [last]
        }
        #expect(PublicAddress.isPublic(address([0x2A, 0x00, 0x14, 0x50])))
        #expect(!PublicAddress.isPublic(address([])))  // ::1
        #expect(!PublicAddress.isPublic(address([], last: 0)))  // ::
        #expect(!PublicAddress.isPublic(address([0xFE, 0x80])))
        #expect(!PublicAddress.isPublic(address([0xFD, 0x12])))
        #expect(!PublicAddress.isPublic(address([0xFF, 0x02])))
        #expect(!PublicAddress.isPublic(address([0x20, 0x01, 0x0D, 0xB8])))
        #expect(!PublicAddress.isPublic(address([0x20, 0x01, 0x00, 0x00])))  // Teredo
        // ::127.0.0.1, the old form of an IPv4 address.
        #expect(!PublicAddress.isPublic([UInt8](repeating: 0, count: 12) + [127, 0, 0, 1]))
    }
}
