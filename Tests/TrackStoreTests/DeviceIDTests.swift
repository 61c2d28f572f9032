import Testing
import TrackStore

@Suite struct DeviceIDTests {
    @Test func aNumberIsAUUIDOfVersionFour() throws {
        var generator = SystemRandomNumberGenerator()
        let id = DeviceID.random(using: &generator)
        #expect("\(id)".wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(DeviceID("\(id)") == id && DeviceID("\(id)".uppercased()) == id)
        #expect(DeviceID(uri: id.uri) == id && id.uri.hasPrefix("saker:device:"))
        #expect(DeviceID.random(using: &generator) != id)
        let known = try #require(DeviceID(bytes: Array(0x0E...0x1D)))
        #expect("\(known)" == "0e0f1011-1213-1415-1617-18191a1b1c1d")
    }

    @Test(arguments: [
        "", "0e0f1011-1213-1415-1617-18191a1b1c1", "0e0f10111213-1415-1617-18191a1b1c1d-",
        "0e0f1011-1213-1415-1617-18191a1b1c1g",
        "0e0f10111213141516171819-1a1b1c1d", " 0e0f1011-1213-1415-1617-18191a1b1c1d",
        "0e0f1011-1213-1415-1617-18191a1b1c1d ",
        "0e0f1011-1213-1415-1617-18191a1b1c1é", "----",
    ])
    func whatIsNoUUIDIsNone(text: String) {
        #expect(DeviceID(text) == nil && DeviceID(uri: "saker:device:" + text) == nil)
    }

    @Test func otherURIsNameNoDevice() {
        let number = "0e0f1011-1213-1415-1617-18191a1b1c1d"
        for uri in [number, "saker:devic:" + number, "Saker:device:" + number, "saker:device::" + number] {
            #expect(DeviceID(uri: uri) == nil)
        }
        #expect(DeviceID(bytes: [1, 2]) == nil)
    }
}
