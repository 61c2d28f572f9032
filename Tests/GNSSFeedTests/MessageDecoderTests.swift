import AgentLogic
import Testing
import TrackModel

@testable import GNSSFeed

struct MessageDecoderTests {
    /// Decodes each line with one decoder, so that what one leaves could show in the next.
    private func decode(_ lines: String...) throws -> [GPSDMessage?] {
        let decoder = try MessageDecoder()
        var buffer = LineBuffer()
        var messages: [GPSDMessage?] = []
        for line in lines {
            let bytes = Array((line + "\n").utf8)
            _ = buffer.fill { free in
                free.copyBytes(from: bytes)
                return bytes.count
            }
            guard case .complete(let range) = buffer.next() else { continue }
            messages.append(decoder.decode(range, in: &buffer))
        }
        return messages
    }

    private let full = #"""
        {"class":"TPV","device":"/dev/x","status":2,"mode":3,"time":"2023-06-28T14:52:11.063Z","lat":1.5,"lon":-2.25,\#
        "altHAE":40,"altMSL":20.5,"alt":20.5,"speed":3.5,"track":359.9,"eph":4.25}
        """#

    /// gpsd before 3.20 tells the height above mean sea level as `alt` alone; later ones may tell only that above the ellipsoid.
    @Test func theHeightOfAnOlderGPSDIsRead() throws {
        func altitude(_ members: String) throws -> Double? {
            let decoder = try MessageDecoder()
            var buffer = LineBuffer()
            let line = Array("{\"class\":\"TPV\",\"mode\":3,\"lat\":1,\"lon\":2,\(members)}\n".utf8)
            _ = buffer.fill { free in
                free.copyBytes(from: line)
                return line.count
            }
            guard case .complete(let range)? = buffer.next(),
                case .position(let report)? = decoder.decode(range, in: &buffer)
            else { return nil }
            return report.altitudeMSL
        }
        #expect(try altitude("\"alt\":31.5") == 31.5)
        #expect(try altitude("\"alt\":31.5,\"altMSL\":20.5") == 20.5)
        #expect(try altitude("\"alt\":31.5,\"altHAE\":60.5") == nil)
        #expect(try altitude("\"speed\":1") == nil)
    }

    @Test func aReportHoldsWhatTheMessageSaid() throws {
        let report = GNSSReport(
            time: Timestamp(milliseconds: 1_687_963_931_063), mode: 3, latitude: 1.5, longitude: -2.25, speed: 3.5,
            course: 359.9, altitudeMSL: 20.5, horizontalError: 4.25, status: 2, device: "/dev/x")
        #expect(try decode(full) == [.position(report)])
    }

    @Test func nothingOfAnEarlierMessageLeaksIntoALaterOne() throws {
        let messages = try decode(
            full, #"{"class":"SKY","device":"/dev/x","satellites":[{"PRN":1,"used":true}]}"#,
            #"{"class":"TPV","mode":1}"#, #"{"class":"SKY","hdop":1}"#, #"{"class":"DEVICE","activated":0}"#)
        #expect(
            Array(messages.dropFirst()) == [
                .sky(device: "/dev/x", satellitesUsed: 1), .position(GNSSReport(mode: 1)),
                .sky(device: nil, satellitesUsed: nil), .device(GPSDDevice(path: "", isActive: false)),
            ])
    }

    @Test func aSKYThatCannotBeParsedSaysNothing() throws {
        let messages = try decode(
            #"{"class":"SKY","satellites":[{"PRN":1,"used":true}]}"#, #"{"class":"SKY","satellites":[{"PRN":{}}]}"#)
        #expect(messages.last == .sky(device: nil, satellitesUsed: nil))
    }

    @Test func devicesAreReadOneByOne() throws {
        let devices = (0..<6).map {
            #"{"class":"DEVICE","path":"/dev/\#($0)","activated":\#($0 == 2 ? #""2023-06-28T14:52:11.063Z""# : "0")}"#
        }
        // More than libgps has room for.
        let line = #"{"class":"DEVICES","devices":["# + devices.joined(separator: ",") + "]}"
        #expect(
            try decode(line) == [.devices((0..<6).map { GPSDDevice(path: "/dev/\($0)", isActive: $0 == 2) })])
    }

    @Test func errorsAndReleasesKeepTheirWords() throws {
        #expect(
            try decode(#"{"class":"ERROR","message":"No such device as /dev/x"}"#) == [
                .error("No such device as /dev/x")
            ])
        #expect(try decode(#"{"class":"VERSION","release":"3.22","rev":"3.22"}"#) == [.version(release: "3.22")])
    }

    @Test(arguments: [
        #"{"class":"TPV","mode":99999999999999,"lat":1e999,"lon":-1e999,"speed":"fast"}"#,
        #"{"class":"TPV","mode":-5,"time":"garbage","lat":null}"#,
        #"{"class":"TPV","mode":7,"time":"99999-99-99T99:99:99Z"}"#,
        #"{"class":"TPV","time":"","mode":null,"device":null}"#,
    ]) func valuesThatCannotBeAreUnknown(line: String) throws {
        guard case .position(let report) = try decode(line).first else {
            Issue.record("not a report")
            return
        }
        #expect(report.latitude == nil && report.longitude == nil && report.speed == nil && report.time == nil)
        #expect((0...3).contains(report.mode))
    }

    /// libgps 3.22 never returns from the first five when it is given them.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            #"{x"class":"TPV"}"#, #"{"class":"TPV","mode":[{"class":"TPV"}]}"#,
            #"{"class":"DEVICES","devices":[x{"class":"DEVICE"}]}"#, #"{"class":"TPV","mode":1} xx{"class":"TPV"}"#,
            #"{"class":"SKY","satellites":[x{"class":"TPV"}]}"#,
            #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":[{"class":"DEVICE"}]}]}"#,
        ]) func linesThatHangTheLibraryAreRefused(line: String) throws
    {
        #expect(try decode(line) == [nil])
    }

    @Test(.timeLimit(.minutes(5))) func wrongTypesWithinADeviceDoNotHangTheLibrary() throws {
        _ = try decode(
            #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":5},{"class":"DEVICE","activated":"x"}]}"#,
            #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":[1]},{"class":"DEVICE","path":{}}]}"#,
            #"{"class":"TPV","mode":{"a":1}}"#, #"{"class":"SKY","satellites":[1,2]}"#,
            #"{"class":"SKY","satellites":[{"PRN":{}}]}"#, #"{"class":"TPV","time":[]}"#)
    }

    @Test(.timeLimit(.minutes(5))) func moreSatellitesThanTheLibraryHasRoomForAreNoHarm() throws {
        let satellites = (0..<1000).map { #"{"PRN":\#($0 % 90 + 1),"used":true}"# }.joined(separator: ",")
        _ = try decode(#"{"class":"SKY","satellites":["# + satellites + "]}")
    }

    /// Messages of gpsd's with some bytes changed: whatever they are taken for, decoding returns.
    @Test(.timeLimit(.minutes(5)), arguments: [UInt64(1), 2, 3]) func changedMessagesAreNoHarm(seed: UInt64) throws {
        let originals = [
            full, #"{"class":"SKY","satellites":[{"PRN":1,"el":3.5,"used":true},{"PRN":2,"used":false}],"hdop":1.5}"#,
            #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a","activated":"2023-06-28T14:52:11.063Z"}]}"#,
            #"{"class":"VERSION","release":"3.22","proto_major":3}"#, #"{"class":"ERROR","message":"a\u0041b"}"#,
        ]
        let decoder = try MessageDecoder()
        var random = seed
        func next(_ bound: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % bound
        }
        let alphabet = Array(#"{}[]",:\0159.-+eEtrufalsn class\u TPV"#.utf8)
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = Array(originals[next(originals.count)].utf8)
            for _ in 0...next(4) {
                let place = next(bytes.count)
                switch next(3) {
                case 0: bytes[place] = alphabet[next(alphabet.count)]
                case 1: bytes.insert(alphabet[next(alphabet.count)], at: place)
                default: bytes.remove(at: place)
                }
            }
            var buffer = LineBuffer()
            _ = buffer.fill { free in
                free.copyBytes(from: bytes + [0x0A])
                return bytes.count + 1
            }
            guard case .complete(let range) = buffer.next() else { continue }
            if decoder.decode(range, in: &buffer) != nil { accepted += 1 }
        }
        #expect(accepted > 0, "seed \(seed)")
    }
}

struct MessageShapeTests {
    private func shape(_ text: String) -> MessageShape? {
        let bytes = Array(text.utf8)
        return MessageShape(bytes, in: 0..<bytes.count)
    }

    @Test(arguments: [
        (#"{"class":"TPV","mode":1}"#, MessageShape.Kind.position),
        (#"{"class":"SKY","satellites":[{"PRN":1,"used":true}]}"#, .sky),
        (#"{"class":"VERSION","release":"3.22"}"#, .version),
        (#"{"class":"DEVICE","path":"/dev/ttyACM0","activated":0}"#, .device),
        (#"{"class":"DEVICES","devices":[]}"#, .devices),
        (#"{"class":"ERROR","message":"say \"class\":"}"#, .error),
        (#"{"class":"WATCH","enable":true}"#, .other),
        (#"{"class":"TPVX","mode":1}"#, .other),
    ]) func messagesOfGPSDAreRecognised(line: (text: String, kind: MessageShape.Kind)) {
        #expect(shape(line.text)?.kind == line.kind)
    }

    @Test(arguments: [
        "", "{", "}", "{}", "[]", "garbage", "{\"class\":", "{\"class\":\"TPV\"", "{\"class\":\"TPV\",}",
        "{\"class\":\"TPV\" \"mode\":1}", "{\"class\":\"TPV\",\"mode\":}", "{\"class\":\"TPV\",\"mode\":1}x",
        "{\"class\":\"TPV\",\"mode\":1}}", "{\"class\":\"TPV\",\"mode\":[1}", "{\"class\":\"TPV\",\"a\":[1,]}",
        "{\"class\":\"TPV\",\"a\":\"\u{1}\"}", "{\"class\":\"TPV\",\"a\":\"\\\"}", "{\"mode\":1,\"class\":\"TPV\"}",
        "{\"class\":\"TPV\"}{\"class\":\"TPV\"}", "{\"class\":\"TPV\",\"a\":{\"class\":\"TPV\"}}",
        "{\"class\":\"DEVICES\",\"devices\":[{\"path\":\"a\"}]}",
        "{\"class\":\"TPV\",\"a\":" + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}",
    ]) func anythingElseIsNoMessage(text: String) {
        #expect(shape(text) == nil)
    }

    @Test func elementsAreTheObjectsOfTheOuterArray() throws {
        let text = #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"a"}, {"class":"DEVICE","path":"}"}]}"#
        let bytes = Array(text.utf8)
        let elements = try #require(shape(text)).elements
        #expect(
            elements.map { String(decoding: bytes[$0], as: UTF8.self) } == [
                #"{"class":"DEVICE","path":"a"}"#, #"{"class":"DEVICE","path":"}"}"#,
            ])
    }

    @Test func aSKYOfDOPsAloneHasNoArray() {
        #expect(shape(#"{"class":"SKY","hdop":1.2}"#)?.hasArray == false)
        #expect(shape(#"{"class":"SKY","satellites":[]}"#)?.hasArray == true)
    }

    @Test func everyCutOfAMessageIsRefused() {
        let text = #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"a","f":-1.5e3}],"x":null}"#
        #expect(shape(text) != nil)
        for length in 0..<text.utf8.count {
            #expect(shape(String(text.prefix(length))) == nil, "cut to \(length)")
        }
    }
}

struct LineBufferTests {
    /// Feeds the bytes in pieces of a size and gathers what comes out; `nil` stands for a line that is too long.
    private func lines(of bytes: [UInt8], inPiecesOf size: Int) -> [String?] {
        var buffer = LineBuffer()
        var found: [String?] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = buffer.fill { free in
                let piece = rest.prefix(min(size, free.count))
                free.copyBytes(from: piece)
                return piece.count
            }
            #expect(count > 0)
            rest = rest.dropFirst(count)
            while let line = buffer.next() {
                switch line {
                case .complete(let range):
                    found.append(String(decoding: buffer.bytes[range], as: UTF8.self))
                    #expect(buffer.bytes[range.upperBound] == 0)
                case .tooLong: found.append(nil)
                }
            }
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 7, 1000]) func linesComeOutWholeHoweverTheyArrive(size: Int) {
        let bytes = Array("one\r\ntwo\n\n\r\nfive\nunfinished".utf8)
        #expect(lines(of: bytes, inPiecesOf: size) == ["one", "two", "", "", "five"])
    }

    @Test(arguments: [1000, 4096, 65_536, 1_000_000]) func aLineThatDoesNotFitIsToldOnceAndSkipped(size: Int) {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000)
        let bytes = Array("a\n".utf8) + long + Array("\nb\n".utf8)
        #expect(lines(of: bytes, inPiecesOf: size) == ["a", nil, "b"])
    }

    @Test func theLongestLineThatFitsPasses() {
        let longest = [UInt8](repeating: UInt8(ascii: "x"), count: LineBuffer.capacity - 1)
        #expect(lines(of: longest + [0x0A], inPiecesOf: 5000).map { $0?.utf8.count } == [LineBuffer.capacity - 1])
        #expect(lines(of: longest + [0x78, 0x0A, 0x61, 0x0A], inPiecesOf: 5000) == [nil, "a"])
    }
}
