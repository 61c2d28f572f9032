import Geodesy
import ProgramTestKit
import Testing
import TrackModel

@testable import Geofencing

/// A fence as bytes: docs/formats/fences.md.
@Suite struct FenceCodingTests {
    private let time = Timestamp(milliseconds: 1_795_000_000_123)

    /// A definition with everything in it, or any part of it.
    private func definition(_ random: inout Dice) throws -> FenceDefinition {
        func place() -> Degrees {
            Degrees(
                latitude: 40 + Double.random(in: 0...0.01, using: &random),
                longitude: 116 + Double.random(in: 0...0.01, using: &random))
        }
        let outline: ShapeDraft.Outline =
            switch Int.random(in: 0..<4, using: &random) {
            case 0: .circle(centre: place(), radius: 123.456)
            case 1: .point(place())
            case 2: .corridor((0..<5).map { _ in place() }, offset: 0.1)
            default:
                .polygon([[degrees(box(40, 40.01, 116, 116.01)), degrees(box(40.002, 40.003, 116.002, 116.003))]])
            }
        let datum = try #require(Datum.allCases.randomElement(using: &random))
        var fence = FenceDefinition(ShapeDraft(outline, datum: datum, buffer: 7.5))
        fence.watch = .everyone
        func maybe() -> Bool { random.one(in: 2) }
        if maybe() { fence.name = "Depot \u{E9} \u{4E2D}" }
        if maybe() { fence.district = "Haidian" }
        if maybe() {
            fence.rule = [.enter, .stay]
            fence.stay = StayAlarmRule(after: 60, every: maybe() ? 30 : nil)
        }
        if maybe() { (fence.settle, fence.crossingGap, fence.denoise) = (604_800, 0, 50) }
        fence.isInitialTold = maybe()
        if maybe() { fence.through = maybe() }
        if maybe() { fence.floor = "3" }
        if maybe() { fence.altitude = AltitudeRange(lower: maybe() ? -100 : nil, upper: maybe() ? 100 : nil) }
        if maybe() {
            var validity = FenceValidity()
            validity.from = maybe() ? time : nil
            validity.through = maybe() ? Timestamp(milliseconds: .max) : nil
            if maybe() { validity.windows = [try #require(WeeklyWindow(days: 31, from: 0, to: 86_400))] }
            validity.zone = maybe() ? .named("Asia/Shanghai") : .offset(-28_800)
            fence.validity = validity
        }
        if maybe() { fence.group = "yard" }
        if maybe() { fence.speedLimit = SpeedLimit(speed: 1389, duration: 10) }
        if maybe() { fence.watch = try FenceSubjects(["van_08", "van_07"]) }
        fence.isReported = maybe()
        if maybe() { fence.reactions = [try FenceReaction(on: .enter, parameters: #"{"a":1}"#, isRemote: maybe())] }
        if maybe() {
            fence.origin = try FenceOrigin(
                file: "yards.json", layer: maybe() ? "a" : nil, feature: "17", attributes: "{}")
        }
        return fence
    }

    @Test(arguments: Dice.seeds(300))
    func packedBytesAreGivenBack(seed: UInt64) throws {
        var random = Dice(seed: seed)
        let before = (0..<Int.random(in: 0...3, using: &random)).map { UInt8($0) }
        let bytes = before + (try Fence(id: 15, definition(&random), at: time)).encoded
        let packed = FenceBytes(bytes, fenceStart: before.count)
        #expect(packed.encoded == bytes && packed.count == bytes.count, "seed \(seed)")
        // So are bytes that are no fence, or not wholly one.
        var other = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
        if let index = other.indices.randomElement(using: &random) {
            other[index] = .random(in: 0...255, using: &random)
        }
        let start = Int.random(in: 0...other.count + 1, using: &random)
        #expect(FenceBytes(other, fenceStart: start).encoded == other, "seed \(seed)")
    }

    /// The bytes of a fence up to the end of its shape.
    private func bytes(_ draft: ShapeDraft) -> [UInt8] {
        // The format, six numbers and flags, and a name of no length.
        [1, 0, 0, 0, 0, 0, 0, 0] + draft.encoded
    }

    @Test func everyNumberIsGivenBack() throws {
        let numbers: [Double] = [
            0, -0.0, 1e-7, -1e-7, 0.1 + 0.2, 40.1234567, -179.9999999, 1000, .infinity, -.infinity, .nan,
            .signalingNaN, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e300,
        ]
        for one in numbers {
            for two in numbers {
                let line = [Degrees(latitude: one, longitude: two), Degrees(latitude: two, longitude: 116.5)]
                let draft = ShapeDraft(.corridor(line, offset: 5))
                let bytes = bytes(draft)
                #expect(FenceBytes(bytes).encoded == bytes, "\(one) and \(two)")
            }
        }
    }

    /// A vehicle keeps thousands of fences in memory.
    @Test func verticesTakeFewBytes() {
        for seed in Dice.seeds(20) {
            var random = Dice(seed: seed)
            func number(_ middle: Double, decimals: Bool) -> Double {
                let number = middle + Double.random(in: 0...0.001, using: &random)
                return decimals ? (number * 1e7).rounded() / 1e7 : number
            }
            func packed(_ count: Int, decimals: Bool) -> Int {
                let line = (0..<count).map { _ in
                    Degrees(latitude: number(40, decimals: decimals), longitude: number(116, decimals: decimals))
                }
                return FenceBytes(bytes(ShapeDraft(.polygon([[line]])))).packedCount
            }
            #expect(packed(1032, decimals: true) - packed(32, decimals: true) <= 6 * 1000, "seed \(seed)")
            #expect(packed(1032, decimals: false) - packed(32, decimals: false) <= 12 * 1000, "seed \(seed)")
        }
    }

    @Test(arguments: Dice.seeds(300))
    func whatWasWrittenIsRead(seed: UInt64) throws {
        var random = Dice(seed: seed)
        let fence = try Fence(id: 15, definition(&random), at: time)
        #expect(try Fence(id: 15, encoded: fence.encoded) == fence, "seed \(seed)")
        // Cut off anywhere, it is no fence.
        let bytes = fence.encoded
        for length in 0..<bytes.count {
            #expect(throws: FenceStateCodingError.self, "seed \(seed), \(length) bytes") {
                try Fence(id: 15, encoded: Array(bytes.prefix(length)))
            }
        }
        #expect(throws: FenceStateCodingError.self) { try Fence(id: 15, encoded: bytes + [0]) }
    }

    @Test(arguments: Dice.seeds(300))
    func anyBytesAreReadOrRefused(seed: UInt64) throws {
        var random = Dice(seed: seed)
        var bytes = try Fence(id: 15, definition(&random), at: time).encoded
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        if let fence = try? Fence(id: 15, encoded: bytes) {
            #expect(try Fence(id: 15, encoded: fence.encoded).definition.name == fence.definition.name, "seed \(seed)")
        }
    }

    @Test func anUpdatedFenceKeepsItsHistory() throws {
        var random = Dice(seed: 4)
        var fence = try Fence(id: 15, definition(&random), at: time)
        let other = FenceDefinition(ShapeDraft(.point(Degrees(latitude: 1, longitude: 2)), buffer: 5))
        _ = try fence.update(other, at: self.time.adding(milliseconds: 5))
        var ruled = fence.definition
        ruled.rule = .enter
        _ = try fence.update(ruled, at: self.time.adding(milliseconds: 6))
        let again = try Fence(id: 15, encoded: fence.encoded)
        #expect(again.revision == 3 && again.areaRevision == 2)
        #expect(again.created == time && again.revisedAt == fence.revisedAt)
    }
}

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
                $0.stay = StayAlarmRule(after: 60, every: 60)
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
            #expect(try EntityFenceState(encoded: drive.fenceState.encoded) == drive.fenceState)
        }
        drive.fenceState.timeRestarted()
        #expect(try EntityFenceState(encoded: drive.fenceState.encoded) == drive.fenceState)
        #expect(try EntityFenceState(encoded: EntityFenceState().encoded) == EntityFenceState())
        #expect(EntityFenceState().encoded.count == 4)
    }

    @Test func aMemoryIsSmall() {
        var drive = Drive((1...4).map { plan(circle(40.0, 116.0, 100), id: $0) })
        drive.play(point(1_795_000_000, 40, 115.99), point(1_795_000_030, 40, 116.0))
        #expect(drive.fenceState.pairs.count == 4)
        #expect(drive.fenceState.encoded.count < 60)
    }

    @Test func anyBytesAreReadOrRefused() {
        var drive = Drive(
            plan(circle(40.0, 116.0, 100)) { $0.settle = 60 },
            plan(circle(40.0, 116.0, 2000), id: 3) { $0.speedLimit = SpeedLimit(speed: 100, duration: 5) })
        drive.play(point(0, 40, 115.99, speed: 20), point(10, 40, 116.0, speed: 20, floor: "2"))
        let good = drive.fenceState.encoded
        for length in 0..<good.count {
            #expect(throws: FenceStateCodingError.self) { try EntityFenceState(encoded: Array(good.prefix(length))) }
        }
        #expect(throws: FenceStateCodingError.self) { try EntityFenceState(encoded: good + [0]) }
        for seed in Dice.seeds(500) {
            var random = Dice(seed: seed)
            var bytes = good
            for _ in 0...Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: 1..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let fenceState = try? EntityFenceState(encoded: bytes) else { continue }
            // What can be read can be judged.
            var copy = drive
            copy.fenceState = fenceState
            copy.play(point(20, 40, 116.0), point(30, 40, 116.01))
        }
    }
}
