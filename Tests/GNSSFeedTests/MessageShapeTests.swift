import Testing

@testable import GNSSFeed

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
