import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import Geofencing

@Suite struct CodingTests {
    @Test func digests() {
        // FIPS 180-4's examples.
        func hex(_ text: String) -> String {
            SHA256.hash(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    private func alarm() -> FenceAlarm {
        var drive = Drive(plan(circle(40.0, 116.0, 100)))
        drive.play(point(0, 40, 115.9976579), point(20, 40, 116.0023421))
        return drive.alarms[0]
    }

    @Test func keysTellAlarmsApart() {
        let scope = AlarmScope(service: 7, entity: "van", source: .server)
        let key = AlarmKey(alarm(), in: scope)
        #expect(AlarmKey(alarm(), in: scope) == key)
        #expect(key.text.count == 32)
        #expect(AlarmKey(bytes: key.bytes) == key)
        #expect(AlarmKey(bytes: [1]) == nil)
        var others: Set<AlarmKey> = [key]
        for other in [
            AlarmScope(service: 8, entity: "van", source: .server),
            AlarmScope(service: 7, entity: "vam", source: .server),
            AlarmScope(service: 7, entity: "van", source: .local),
        ] {
            others.insert(AlarmKey(alarm(), in: other))
        }
        var drive = Drive(
            plan(circle(40.0, 116.0, 100)) {
                $0.revision = 2
                $0.group = GroupCode(name: "g", watch: "van")
            }, plan(circle(40.0, 116.0, 100), id: 2))
        drive.play(point(0, 40, 115.9976579), point(20, 40, 116.0023421))
        drive.play(point(40, 40, 115.9976579))
        for alarm in drive.alarms { others.insert(AlarmKey(alarm, in: scope)) }
        var numbered = alarm()
        numbered.number = 1
        others.insert(AlarmKey(numbered, in: scope))
        #expect(others.count == 1 + 3 + 12 + 1)
        #expect(key.pushID(to: "van") > 0)
        #expect(key.pushID(to: "van") != key.pushID(to: "other"))
    }

    @Test func aKeyIsTheSameForEver() {
        // Agents and servers of different versions derive the same key: this text never changes.
        let key = AlarmKey(alarm(), in: AlarmScope(service: 7, entity: "van", source: .server))
        #expect(key.text == "59e40f1669b827bebcf1513e0134b2c4")
    }

    @Test func memoriesSurviveTheDisk() throws {
        var drive = Drive(
            plan(circle(40.0, 116.0, 100)) {
                $0.stay = StayRule(after: 60, every: 60)
                $0.rule = [.enter, .stay]
                $0.settle = 20
            }, plan(circle(40.0, 116.0, 90), id: 2), plan(circle(40.0, 116.001, 90), id: 70_000) { $0.denoise = 7 },
            plan(circle(40.0, 116.0, 2000), id: 3) { $0.speedLimit = SpeedLimit(speed: 100, duration: 5) })
        let points = [
            point(0, 40, 115.99, accuracy: 3, speed: 3, floor: "2"), point(10, 40, 115.9995, altitude: 7),
            point(20, 40, 116.0, accuracy: nil), point(40, 40, 116.00125, accuracy: 9), point(70, 40, 116.0),
            point(80, 40, 116.0015, accuracy: 60, speed: 20),
        ]
        for point in points {
            drive.play(point)
            #expect(try EntityMemory(encoded: drive.memory.encoded) == drive.memory)
        }
        drive.memory.timeRestarted()
        #expect(try EntityMemory(encoded: drive.memory.encoded) == drive.memory)
        #expect(try EntityMemory(encoded: EntityMemory().encoded) == EntityMemory())
        #expect(EntityMemory().encoded.count == 4)
    }

    @Test func aMemoryIsSmall() {
        var drive = Drive((1...4).map { plan(circle(40.0, 116.0, 100), id: $0) })
        drive.play(point(1_795_000_000, 40, 115.99), point(1_795_000_030, 40, 116.0))
        #expect(drive.memory.pairs.count == 4)
        #expect(drive.memory.encoded.count < 60)
    }

    @Test func anyBytesAreReadOrRefused() {
        var drive = Drive(
            plan(circle(40.0, 116.0, 100)) { $0.settle = 60 },
            plan(circle(40.0, 116.0, 2000), id: 3) { $0.speedLimit = SpeedLimit(speed: 100, duration: 5) })
        drive.play(point(0, 40, 115.99, speed: 20), point(10, 40, 116.0, speed: 20, floor: "2"))
        let good = drive.memory.encoded
        for length in 0..<good.count {
            #expect(throws: MemoryCodingError.self) { try EntityMemory(encoded: Array(good.prefix(length))) }
        }
        #expect(throws: MemoryCodingError.self) { try EntityMemory(encoded: good + [0]) }
        for seed in Dice.seeds(500) {
            var random = Dice(seed: seed)
            var bytes = good
            for _ in 0...Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: 1..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let memory = try? EntityMemory(encoded: bytes) else { continue }
            // What can be read can be judged.
            var copy = drive
            copy.memory = memory
            copy.play(point(20, 40, 116.0), point(30, 40, 116.01))
        }
    }
}
