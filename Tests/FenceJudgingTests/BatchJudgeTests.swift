import FenceJudging
import Geodesy
import Geofencing
import JSON
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@Suite struct BatchJudgeTests {
    private func pass(_ times: [Int64]) throws -> [TrackPoint] { try times.map { try point($0, Double($0) * 10) } }

    @Test func aDriveThroughAFenceMakesEnterAndExit() throws {
        let fences = try everyones(circle())
        var judge = BatchJudge()
        let verdict = judge.judge(
            try batch(pass([-20, -15, -5, 0, 5, 15, 20]), received: 30), from: JudgedState(), by: fences, own: nil)
        #expect(verdict.alarms.map(short) == ["enter 1 -10.0", "exit 1 10.0"])
        #expect((verdict.judged, verdict.late, verdict.ahead) == (7, 0, 0))
        let enter = try #require(verdict.alarms.first).alarm
        #expect(enter.name == "depot")
        #expect(enter.point.time == .at(-5))
        #expect(enter.point.received == .at(30))
        #expect(enter.previous?.time == .at(-15))
        let scope = AlarmScope(service: 7, entity: "van", source: .server)
        #expect(scope.source == enter.source)
        let push = try #require(verdict.alarms.first?.pushes.first)
        #expect(push.targets == .entities(["van"]))
        #expect(push.alarm == enter.key)
        #expect(push.type == PushRules.fenceAlarm)
    }

    /// Whatever the batches, and through the bytes that are stored between them: the same alarms with the same keys.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func anySplitMakesTheSameAlarms(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let definitions = (0..<8).map { index -> FenceDefinition in
            var definition = circle(
                "\(index)", radius: .random(in: 20...200, using: &random), east: .random(in: -900...900, using: &random)
            )
            definition.denoise = [0, 4, 6].randomElement(using: &random) ?? 0
            definition.rule = [.enter, .exit, .stay]
            definition.stay = StayAlarmRule(after: 20, every: 15)
            return definition
        }
        let public_ = ServiceFences(
            try definitions[..<4].enumerated().map { try record(Int32($0.offset + 1), $0.element) }
        ) { _ in nil }
        let named = try definitions[4...].enumerated().map {
            SubjectFence(record: try record(Int32($0.offset + 5), $0.element, since: nil), since: .at(-1000))
        }
        let own = OwnFences(named) { _ in nil }
        var east = 0.0
        let points = try (0..<200).map { index in
            east = max(-1000, min(1000, east + .random(in: -120...120, using: &random)))
            var point = try point(Int64(index * 5), east)
            point.fix.accuracy = .random(in: 10...80, using: &random)
            return point
        }
        var judge = BatchJudge()
        let whole = judge.judge(try batch(points, received: 2000), from: JudgedState(), by: public_, own: own)
        var (state, alarms, start) = (JudgedState(), [CausedAlarm](), 0)
        while start < points.count {
            let end = min(points.count, start + Int.random(in: 1...9, using: &random))
            let part = judge.judge(
                try batch(Array(points[start..<end]), received: 2000), from: state, by: public_, own: own)
            state = try JudgedState(encoded: part.state.encoded)
            #expect(state == part.state)
            alarms += part.alarms
            start = end
        }
        #expect(alarms == whole.alarms, "seed \(seed)")
        #expect(state == whole.state, "seed \(seed)")
        #expect(!alarms.isEmpty, "seed \(seed)")
        #expect(Set(alarms.map(\.alarm.key)).count == alarms.count, "seed \(seed)")
    }

    @Test func thePointBeforeKeepsWhenItWasReceived() throws {
        let fences = try everyones(circle())
        var judge = BatchJudge()
        let first = judge.judge(
            try batch(pass([-20, -15]), received: 3), from: JudgedState(), by: fences, own: nil)
        let state = try JudgedState(encoded: first.state.encoded)
        let second = judge.judge(try batch(pass([-5, 0]), received: 9), from: state, by: fences, own: nil)
        let enter = try #require(second.alarms.first).alarm
        #expect(enter.previous?.received == .at(3))
        #expect(enter.point.received == .at(9))
    }

    @Test func whatIsLateOrAheadOrStoredChangesNothing() throws {
        let fences = try everyones(circle())
        var judge = BatchJudge()
        let begin = judge.judge(
            try batch(pass([-20]), received: 100), from: JudgedState(), by: fences, own: nil
        ).state
        let late = judge.judge(
            try batch(pass([-30, -20]), received: 100), from: begin, by: fences, own: nil)
        #expect((late.judged, late.late) == (0, 2))
        #expect(late.state == begin)
        // Ten minutes ahead of the server's clock is judged, more is not: everything after it would be late.
        let ahead = judge.judge(
            try batch([point(700, 500), point(701, 0)], received: 100), from: begin, by: fences, own: nil)
        #expect((ahead.judged, ahead.ahead) == (1, 1))
        #expect(ahead.state.fenceState.lastTime == .at(700))
        // What the session knows to be stored was judged when it was stored.
        let position = StreamPosition(
            stream: StreamID(high: 1, low: 1), epoch: 1, previous: 11, first: 10, count: 4)
        let again = judge.judge(
            try batch(pass([-19, -18, -5, 0]), received: 100, position: position), from: begin, by: fences, own: nil)
        #expect(again.judged == 2)
        #expect(again.alarms.map(\.alarm.previous?.time) == [.at(-20)])
    }

    @Test func pointsAreJudgedInTheOrderOfTheirTimes() throws {
        let fences = try everyones(circle())
        var judge = BatchJudge()
        let verdict = judge.judge(
            try batch(pass([20, 5, -5, 15, -20, 0, -15]), received: 30), from: JudgedState(), by: fences, own: nil)
        #expect(verdict.alarms.map(short) == ["enter 1 -10.0", "exit 1 10.0"])
        #expect(verdict.late == 0)
    }

    @Test func aPointOfAnotherDatumIsJudgedWhereItIs() throws {
        let fences = try everyones(circle())
        var judge = BatchJudge()
        let points = try pass([-20, -15, -5, 0]).map { point in
            let given = Degrees(latitude: point.fix.coordinate.latitude, longitude: point.fix.coordinate.longitude)
            let moved = DatumConversion.convert(given, from: .wgs84, to: .bd09)
            var point = point
            point.fix.coordinate = try #require(Coordinate(latitude: moved.latitude, longitude: moved.longitude))
            point.coordinateType = .bd09ll
            return point
        }
        let verdict = judge.judge(try batch(points, received: 30), from: JudgedState(), by: fences, own: nil)
        #expect(verdict.alarms.map(short) == ["enter 1 -10.0"])
        let place = try #require(verdict.alarms.first).alarm.point.place
        #expect(abs(place.longitude - 116 + degrees(50)) < 1e-5)
    }

    @Test func aFloorIsAnAttribute() throws {
        var definition = circle()
        definition.floor = "3"
        let fences = try everyones(definition)
        var judge = BatchJudge()
        let verdict = judge.judge(
            try batch([point(0, 0, floor: "2"), point(10, 0, floor: "3"), point(20, 0)], received: 30),
            from: JudgedState(), by: fences, own: nil)
        #expect(verdict.alarms.map(\.alarm.action) == [.enter])
        // A number names the same floor as its digits.
        for (value, alarms) in [(.integer(3), [.enter]), (.double(3), [.enter]), (.integer(2), [])]
            as [(AttributeValue, [FenceAction])]
        {
            var points = try [point(0, 0, floor: "2"), point(10, 0), point(20, 0)]
            for index in 1...2 { points[index].attributes["floor"] = value }
            let verdict = judge.judge(try batch(points, received: 30), from: JudgedState(), by: fences, own: nil)
            #expect(verdict.alarms.map(\.alarm.action) == alarms)
        }
    }

    /// The server receives points that are five minutes ahead of its clock. A fence that watches the entity since a later moment
    /// knows none of them, and makes no alarm of where the entity was before.
    @Test func pointsAheadAreOlderThanAFenceThatCameLater() throws {
        let watchedAgain = try record(1, circle(), since: .at(40))
        let made = try record(2, circle("made later", radius: 120), since: .at(40))
        let fences = ServiceFences([watchedAgain, made]) { _ in nil }
        var judge = BatchJudge()
        let inside = judge.judge(
            try batch([point(300, 0), point(310, 0), point(320, 0)], received: 20), from: JudgedState(),
            by: try everyones(circle()), own: nil)
        #expect(inside.state.fenceState.pair(of: 1)?.place == .in)
        // Outside now: nobody saw it inside since the fences watch it. Inside: it was there before they did.
        for (east, place) in [(900, nil), (0, .in)] as [(Double, FencePair.Place?)] {
            let next = judge.judge(
                try batch([point(400, east), point(410, east), point(420, east)], received: 120), from: inside.state,
                by: fences, own: nil)
            #expect(next.alarms.map(short) == [])
            #expect(
                next.state.fenceState.pair(of: 1)?.place == place && next.state.fenceState.pair(of: 2)?.place == place)
        }
        // Fences that are older than the points go on as before.
        let gone = judge.judge(
            try batch([point(400, 900), point(410, 900)], received: 120), from: inside.state,
            by: try everyones(circle()), own: nil)
        #expect(gone.alarms.map(\.alarm.action) == [.exit])
        // The next batch counts from here on.
        let begun = judge.judge(
            try batch([point(400, 900), point(410, 900)], received: 120), from: inside.state, by: fences, own: nil)
        let entered = judge.judge(
            try batch([point(420, 0), point(430, 0)], received: 140), from: begun.state, by: fences, own: nil)
        #expect(entered.alarms.map(\.alarm.action) == [.enter, .enter])
    }

    @Test func aRemoteActionIsToldToThoseWhomTheFenceNamesWhenTheyAreNotTooMany() throws {
        var definition = circle()
        definition.reactions = [try FenceReaction(on: .enter, parameters: "{\"vid\":7}", isRemote: true)]
        definition.watch = .everyone
        var judge = BatchJudge()
        let points = try batch(pass([-20, -15, -5, 0, 15, 20]), received: 30)
        let public_ = judge.judge(points, from: JudgedState(), by: try everyones(definition), own: nil)
        #expect(public_.alarms.map { $0.pushes.map(\.targets) } == [[.entities(["van"])], [.entities(["van"])]])
        #expect(public_.alarms.map(\.alarm.parameters) == ["{\"vid\":7}", nil])
        definition.watch = try FenceSubjects(["van", "bus"])
        let named = SubjectFence(record: try record(1, definition, since: nil), since: .at(-1000))
        let own = judge.judge(
            points, from: JudgedState(), by: try everyones(), own: OwnFences([named]) { _ in nil })
        #expect(own.alarms.first?.pushes.map(\.targets) == [.entities(["van", "bus", "van"])])
        for (count, isTold) in [(FenceReaction.mostRemote, true), (FenceReaction.mostRemote + 1, false)] {
            definition.watch = try FenceSubjects((1..<count).map { "bus-\($0)" } + ["van"])
            let crowd = SubjectFence(record: try record(1, definition, since: nil), since: .at(-1000))
            let found = judge.judge(
                points, from: JudgedState(), by: try everyones(), own: OwnFences([crowd]) { _ in nil })
            guard case .entities(let names)? = found.alarms.first?.pushes.first?.targets else {
                Issue.record("\(found.alarms)")
                continue
            }
            #expect(Set(names).count == (isTold ? count : 1))
        }
        let body = try JSONReader.value(of: Array(try #require(own.alarms.first?.pushes.first).body.utf8))
        #expect(body["action"] == "enter")
        #expect(body["fence_id"] == 1)
        #expect(body["monitored_person"] == "van")
        #expect(body["remote"] == true)
        #expect(body["params"]?["vid"] == 7)
        #expect(body["alarm_point"]?["create_time"] == .integer(Timestamp.at(30).seconds))
        #expect(body["key"] == .string(try #require(own.alarms.first).alarm.key.text))
        #expect(body["crossing"]?["estimated"] == true)
    }

    @Test func aFenceWithoutItsTimeZoneIsNamedAndNotJudged() throws {
        var definition = circle()
        let window = try #require(WeeklyWindow(days: 127, from: 0, to: 86_400))
        definition.validity = FenceValidity(windows: [window], zone: .named("Asia/Shanghai"))
        let records = [try record(4, definition)]
        #expect(ServiceFences(records) { _ in nil }.unjudged == [4])
        #expect(ServiceFences(records) { _ in nil }.isEmpty)
        let known = ServiceFences(records) { $0 == "Asia/Shanghai" ? ZoneOffsets(first: 28_800) : nil }
        #expect(known.unjudged == [])
        #expect(!known.isEmpty)
    }

    /// A vehicle that was offline for a night uploads a drive of the evening: the evening counts.
    @Test func validityIsJudgedByTheTimesOfThePointsNotOfTheUpload() throws {
        let hour: Int64 = 3600
        let second = Int32(Timestamp.at(0).seconds % 86_400)
        func hours(from: Int32) throws -> FenceValidity {
            FenceValidity(windows: [
                try #require(WeeklyWindow(days: 127, from: from % 86_400, to: (from + 120) % 86_400))
            ])
        }
        let validities: [(FenceValidity, isTold: Bool)] = [
            (FenceValidity(through: .at(60)), true), (FenceValidity(from: .at(60)), false),
            (try hours(from: second - 60), true), (try hours(from: second + 9 * Int32(hour) - 60), false),
        ]
        for (validity, isTold) in validities {
            var definition = circle()
            definition.rule = [.enter, .exit, .stay]
            definition.stay = StayAlarmRule(after: 5, every: nil)
            definition.speedLimit = SpeedLimit(speed: 500, duration: 2)
            definition.validity = validity
            let fences = try everyones(definition)
            var judge = BatchJudge()
            let verdict = judge.judge(
                try batch(pass([-20, -15, -5, 0, 5, 15, 20]), received: 9 * hour), from: JudgedState(), by: fences,
                own: nil)
            let actions = Set(verdict.alarms.map(\.alarm.action))
            #expect(actions == (isTold ? [.enter, .exit, .stay, .overspeed] : []), "\(validity)")
            #expect(verdict.judged == 7)
        }
    }

    @Test func aChangedFenceIsJudgedAsItIsNow() throws {
        var fences = try everyones(circle(), circle("b", east: 1000))
        fences.change(2, to: nil)
        fences.change(1, to: try record(1, circle(radius: 30)))
        fences.change(9, to: try record(9, circle("named"), since: nil))
        var judge = BatchJudge()
        let points = try batch(pass([-20, -15, -6, -5, 0, 100, 102]), received: 130)
        for fences in [fences, fences.rebuilt()] {
            let verdict = judge.judge(points, from: JudgedState(), by: fences, own: nil)
            #expect(verdict.alarms.map(short) == ["enter 1 -3.0", "exit 1 3.0"])
        }
        fences.change(1, to: nil)
        #expect(fences.isEmpty)
    }

    @Test func bytesThatNobodyWroteAreRefused() throws {
        let fences = try everyones(circle())
        var judge = BatchJudge()
        let bytes = judge.judge(
            try batch(pass([-5, 0, 5]), received: 30), from: JudgedState(), by: fences, own: nil
        ).state.encoded
        #expect(throws: FenceStateCodingError.self) { try JudgedState(encoded: []) }
        for length in 0..<bytes.count {
            #expect(throws: FenceStateCodingError.self) { try JudgedState(encoded: Array(bytes[..<length])) }
        }
        #expect(throws: FenceStateCodingError.self) { try JudgedState(encoded: [2] + bytes.dropFirst()) }
        #expect(throws: FenceStateCodingError.self) { try JudgedState(encoded: bytes + [0]) }
    }
}
