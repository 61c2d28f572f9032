import AgentLogic
import SecureLink
import Testing
import TrackModel
import TrackWire

@testable import AgentRuntime

/// What the link makes of a Welcome, and of the newest point.
@Suite struct LinkPartsTests {
    private func hint(attributes: [String: AttributeValue] = [:]) throws -> LiveHint {
        let place = try #require(Coordinate(latitudeE7: 520_000_000, longitudeE7: 40_000_000))
        var point = TrackPoint(Fix(time: Timestamp(seconds: 1_780_000_000), coordinate: place))
        point.attributes = attributes
        return LiveHint(point: point, entity: "van")
    }

    @Test func aLiveHintIsThePointOfTheSessionsEntity() throws {
        let hint = try hint(attributes: ["fuel": .double(40)])
        let heartbeat = try #require(hint.heartbeat(as: "van", format: 2))
        #expect(try PointRecord.decode(heartbeat.liveHintBytes) == hint.point)
        #expect(hint.heartbeat(as: "bus", format: 2) == nil)
        // Names are the same when their bytes are.
        #expect(LiveHint(point: hint.point, entity: "caf\u{E9}").heartbeat(as: "cafe\u{301}", format: 2) == nil)
    }

    @Test func aLiveHintThatIsTooLongGoesWithoutItsAttributes() throws {
        let long = try hint(attributes: ["note": .string(String(repeating: "x", count: WireLimits.liveHintBytes))])
        let heartbeat = try #require(long.heartbeat(as: "van", format: 2))
        #expect(heartbeat.liveHintBytes.count <= WireLimits.liveHintBytes)
        let point = try PointRecord.decode(heartbeat.liveHintBytes)
        #expect(point.fix == long.point.fix && point.attributes.isEmpty)
    }

    @Test func aServerMaySayAnyNumber() {
        let now = SystemTime(milliseconds: 1_780_000_000_000)
        func terms(format: UInt32, time: Int64) -> LinkTerms {
            var welcome = Welcome()
            (welcome.payloadFormat, welcome.serverTime) = (format, time)
            return LinkTerms(welcome, at: now)
        }
        // A server from before there were two formats says nothing of them.
        #expect(terms(format: 0, time: 0) == LinkTerms())
        #expect(LinkTerms().payloadFormat == 1 && LinkTerms().clockDifference == nil)
        #expect(terms(format: 2, time: now.milliseconds + 90).clockDifference == 90)
        #expect(terms(format: 2, time: 5).clockDifference == 5 - now.milliseconds)
        #expect(terms(format: .max, time: .min).clockDifference == nil)
        #expect(terms(format: .max, time: .max).payloadFormat == Int(UInt32.max))
    }

    /// A server whose clock is a year ahead says that a good certificate has ended.
    @Test func aServerWhoseClockIsWrongIsToldFromACertificateThatHasEnded() {
        let trust = LinkTrust(ShellBench().context) {}
        let error = SecureLinkError(.clientCertificateExpired, "the server says so")
        func reasons(_ end: Int64?) -> [String] {
            let judged = trust.judgedTime()
            return [trust.trouble(error, judged, certificateEnd: end), trust.ending(error, certificateEnd: end)].map {
                #expect($0.cause == .clientCertificateExpired && $0.needsPerson)
                return $0.reason
            }
        }
        // The receiver's time counts where nobody keeps the clock; years lie between.
        trust.fixArrived(Timestamp(seconds: SakerVersion.madeAt + 100))
        for reason in reasons(SakerVersion.madeAt + 40 * 365 * 86_400) {
            #expect(reason.contains("is the server's clock right? On the server: date"), "\(reason)")
        }
        for end in [nil, SakerVersion.madeAt - 5] {
            #expect(reasons(end) == ["the server says so", "the server says so"])
        }
        #expect(trust.ending(nil, certificateEnd: 5).reason == "the server closed the connection")
    }
}
