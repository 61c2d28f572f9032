import ProgramTestKit
import Testing
import TrackModel

@testable import TrackWire

@Suite struct WireCodecTests {
    @Test func everyClientMessageComesBack() throws {
        var hello = Hello()
        hello.protocol = WireLimits.protocolVersion
        hello.serviceID = 42
        hello.ak = "key"
        hello.entity = "京A·12345"
        hello.streamID = StreamID(high: 1, low: 2)
        hello.nextSequence = 7
        var call = Call()
        call.id = 3
        call.path = "entity/list"
        call.parameters = ["filter": "entity_names:a"]
        var heartbeat = Heartbeat()
        heartbeat.liveHintBytes = [1, 2, 3]
        var acknowledged = PushAck()
        acknowledged.ids = [1, .max]
        let batch = EncodedBatch(isCompressed: true, bytes: [9, 8], count: 5)
        let upload = Upload(batch, firstSequence: 10, entity: "b", stream: StreamID(high: 3, low: 4))
        #expect(upload.streamID == StreamID(high: 3, low: 4))
        #expect(upload.payloadBytes == [9, 8])
        let points = Points(batch, id: 77, entity: "c")
        for frame in [
            ClientFrame(.hello(hello)), ClientFrame(.upload(upload)), ClientFrame(.points(points)),
            ClientFrame(.call(call)), ClientFrame(.heartbeat(heartbeat)), ClientFrame(.pushAck(acknowledged)),
            ClientFrame(.goodbye(Goodbye())),
        ] {
            #expect(try WireCodec.decodeClient(unframed(WireCodec.encode(frame))) == frame)
        }
    }

    private func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        var bytes = [number << 3 | 2]
        var length = content.count
        while length >= 0x80 {
            bytes.append(UInt8(length & 0x7F) | 0x80)
            length >>= 7
        }
        return bytes + [UInt8(length)] + content
    }

    /// The decoder's table would take minutes for such a name.
    @Test func namesOfParametersAreMeasuredBeforeTheyAreDecoded() throws {
        func call(_ name: [UInt8]) -> [UInt8] { field(4, field(2, Array("x".utf8)) + field(3, field(1, name))) }
        let marks = Array(("a" + String(repeating: "\u{301}\u{327}", count: 200_000)).utf8)
        #expect(throws: WireError(.tooLarge, "")) { try WireCodec.decodeClient(call(marks)) }
        #expect(throws: WireError(.tooLarge, "")) {
            try WireCodec.decodeClient(call([UInt8](repeating: 97, count: 257)))
        }
        let kept = try WireCodec.decodeClient(call([UInt8](repeating: 97, count: 256)))
        guard case .call(let call)? = kept.message else {
            Issue.record("\(kept)")
            return
        }
        #expect(call.parameters.keys.map(\.utf8.count) == [256])
    }

    /// What stands behind a group, or behind a number that no field has, is not passed over.
    @Test(arguments: [[0x53, 0x54], [0x80 | 0x22, 0x80, 0x80, 0x80, 0x10, 0x00]] as [[UInt8]])
    func aNameCannotHideBehindWhatTheDecoderPassesOver(_ prefix: [UInt8]) {
        let hidden = field(4, field(3, field(1, [UInt8](repeating: 97, count: 300))))
        #expect(throws: WireError.self) { try WireCodec.decodeClient(prefix + hidden) }
        let inside = field(4, prefix + field(3, field(1, [UInt8](repeating: 97, count: 300))))
        #expect(throws: WireError.self) { try WireCodec.decodeClient(inside) }
    }

    /// Devices in the field know the live hint by its number, whatever its name.
    @Test func aLiveHintIsTheFirstFieldOfAHeartbeat() {
        var heartbeat = Heartbeat()
        heartbeat.liveHintBytes = [1, 2, 3]
        let frame = WireCodec.encode(ClientFrame(.heartbeat(heartbeat)))
        #expect(Array(frame) == [7, 5 << 3 | 2, 5, 1 << 3 | 2, 3, 1, 2, 3])
    }

    @Test func everyServerMessageComesBack() throws {
        var welcome = Welcome()
        welcome.session = 1
        welcome.serverTime = 1_800_000_000_000
        welcome.storedThrough = 99
        var column = TrackColumn()
        column.key = "fuel"
        column.type = .double
        welcome.trackColumns = [column]
        var refused = Refused()
        refused.code = .authentication
        var acknowledged = UploadAck()
        acknowledged.storedThrough = .max
        acknowledged.streamID = StreamID(high: 3, low: 4)
        var closing = Closing()
        closing.code = .replaced
        for frame in [
            ServerFrame(.welcome(welcome)), ServerFrame(.refused(refused)), ServerFrame(.uploadAck(acknowledged)),
            ServerFrame(.pointsReply(PointsReply())), ServerFrame(.callReply(CallReply())), ServerFrame(.push(Push())),
            ServerFrame(.heartbeat(Heartbeat())), ServerFrame(.closing(closing)),
        ] {
            #expect(try WireCodec.decodeServer(unframed(WireCodec.encode(frame))) == frame)
        }
    }

    @Test func unknownKindsAndGarbageAreMalformed() {
        #expect(throws: WireError(.malformed, "")) { try WireCodec.decodeClient([]) }
        #expect(throws: WireError(.malformed, "")) { try WireCodec.decodeServer([0xFA, 0x01, 0x00]) }
        #expect(throws: WireError(.malformed, "")) { try WireCodec.decodeClient([0x0A, 0x7F]) }
        for seed in Dice.seeds(2000) {
            var random = Dice(seed: seed)
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = try? WireCodec.decodeClient(bytes)
            _ = try? WireCodec.decodeServer(bytes)
        }
    }

    @Test func aStreamThatIsNotSixteenBytesIsNone() {
        var hello = Hello()
        #expect(hello.streamID == nil)
        hello.stream.append(contentsOf: [1, 2, 3])
        #expect(hello.streamID == nil)
    }

    private func unframed(_ bytes: [UInt8]) throws -> [UInt8] {
        var decoder = FrameDecoder()
        decoder.append(bytes)
        return try #require(try decoder.next())
    }
}
