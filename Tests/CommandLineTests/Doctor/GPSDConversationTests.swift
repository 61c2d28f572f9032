import Testing

@testable import SakerCommand

/// What is made of gpsd's words, and of those of others.
@Suite struct GPSDConversationTests {
    private let greeting = "{\"class\":\"VERSION\",\"release\":\"3.25\",\"proto_major\":3}\r\n"
    private let devices =
        "{\"class\":\"DEVICES\",\"devices\":[{\"class\":\"DEVICE\",\"path\":\"/dev/ttyACM0\",\"driver\":\"u-blox\"}]}\r\n"

    private func result(_ text: String, wantsFix: Bool = false, piece: Int = 7) -> (GPSDFacts.Result, isOver: Bool) {
        var conversation = GPSDConversation(wantsFix: wantsFix)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            conversation.hear(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        return (conversation.result, conversation.isOver)
    }

    @Test(arguments: [1, 7, 10_000]) func devicesAreHeardHoweverTheyArrive(piece: Int) {
        let heard = result(greeting + devices, piece: piece)
        #expect(
            heard.0
                == .answers(
                    release: "3.25", devices: [GPSDFacts.Device(path: "/dev/ttyACM0", driver: "u-blox")], fix: nil))
        #expect(heard.isOver)
    }

    @Test func aFixIsWaitedFor() {
        let none = "{\"class\":\"TPV\",\"mode\":1}\n"
        #expect(!result(greeting + devices + none, wantsFix: true).isOver)
        let fixed = result(greeting + devices + none + "{\"class\":\"TPV\",\"mode\":3,\"eph\":4.5}\n", wantsFix: true)
        #expect(fixed.isOver)
        guard case .answers(_, _, let fix) = fixed.0 else {
            Issue.record("\(fixed.0)")
            return
        }
        #expect(fix == GPSDFacts.Fix(mode: 3, accuracy: 4.5))
    }

    @Test func silenceAndStrangersAreTold() {
        #expect(result("").0 == .unreachable("connected, and it says nothing"))
        let stranger = result("SSH-2.0-OpenSSH\u{1B}\r\n")
        #expect(stranger.isOver)
        guard case .foreign(let start) = stranger.0 else {
            Issue.record("\(stranger.0)")
            return
        }
        #expect(start.hasPrefix("SSH-2.0-OpenSSH?"))
        // Much of nothing: bounded, and no gpsd.
        #expect(result("{" + String(repeating: "x", count: 300_000) + "\n", piece: 4096).0 != .unreachable(""))
    }

    @Test func aPlaceIsReadFromItsEnd() throws {
        let place = try #require(Examination.place("2001:db8::7:7443"))
        #expect(place.host == "2001:db8::7" && place.port == 7443)
        #expect(
            Examination.place("host:0") == nil && Examination.place("host") == nil && Examination.place(":1") == nil)
    }
}
