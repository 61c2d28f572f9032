import Testing
import TrackModel
import TrackTestKit

@testable import AgentLogic

@Suite struct AttributeTableTests {
    private let columns = [
        AttributeColumn(key: "fuel", type: .double), AttributeColumn(key: "door", type: .integer),
        AttributeColumn(key: "driver", type: .string),
    ]

    private func reasons(_ ignored: [IgnoredAttribute]) -> [String: IgnoredAttribute.Reason] {
        Dictionary(ignored.map { ($0.key, $0.reason) }) { first, _ in first }
    }

    @Test func withoutValuesAPointCarriesNothing() {
        #expect(AttributeTable(columns: columns).attributes(now: 0) == [:])
        #expect(AttributeTable().attributes(now: 0) == [:])
    }

    @Test func valuesStayUntilTheyAreSetAgainOrCleared() {
        var table = AttributeTable(columns: columns)
        #expect(table.set(["door": .integer(1), "driver": .string("Li Wei")], now: 0) == [])
        #expect(table.attributes(now: .distantFuture) == ["door": .integer(1), "driver": .string("Li Wei")])
        #expect(table.set(["door": .integer(2)], now: 5) == [])
        #expect(table.attributes(now: 5) == ["door": .integer(2), "driver": .string("Li Wei")])
        #expect(table.clear(["door", "other"], now: 6) == ["door"])
        #expect(table.attributes(now: 6) == ["driver": .string("Li Wei")])
        #expect(table.clear(now: 7) == ["driver"])
        #expect(table.attributes(now: 7) == [:])
    }

    @Test func aTimeToLiveEnds() {
        var table = AttributeTable(columns: columns)
        _ = table.set(["door": .integer(1)], expires: 100, now: 0)
        #expect(table.values(now: 40) == [.init(key: "door", value: .integer(1), remaining: 60)])
        #expect(table.attributes(now: 99) == ["door": .integer(1)])
        #expect(table.attributes(now: 100) == [:])
        #expect(table.values(now: 100) == [])
        #expect(table.clear(now: 100) == [])
        // Set anew without a limit, it has none.
        _ = table.set(["door": .integer(1)], expires: 200, now: 101)
        _ = table.set(["door": .integer(3)], now: 102)
        #expect(table.attributes(now: 1000) == ["door": .integer(3)])
    }

    @Test func onlyWhatIsAColumnOfThatTypeIsTaken() {
        var table = AttributeTable(columns: columns)
        let ignored = table.set(
            [
                "fuel": .integer(51), "door": .double(1), "driver": .integer(7), "colour": .string("red"),
                "": .integer(1),
            ], now: 0)
        #expect(
            reasons(ignored) == ["door": .wrongType, "driver": .wrongType, "colour": .unknownKey, "": .invalid])
        #expect(ignored.allSatisfy { $0.detail.count > 10 })
        #expect(table.attributes(now: 0) == ["fuel": .double(51)])
        // What is refused leaves the value before in place.
        #expect(reasons(table.set(["fuel": .string("full")], now: 1)) == ["fuel": .wrongType])
        #expect(table.attributes(now: 1) == ["fuel": .double(51)])
    }

    @Test func customPointsAreJudgedByTheColumnsToo() throws {
        let place = try #require(Coordinate(latitude: 1, longitude: 1))
        func point(_ attributes: [String: AttributeValue]) -> TrackPoint {
            TrackPoint(Fix(time: Timestamp(seconds: 1_772_670_000), coordinate: place), attributes: attributes)
        }
        let points = [
            point(["fuel": .integer(51), "colour": .integer(1)]), point([:]),
            point(["fuel": .string("full"), "colour": .integer(2)]),
        ]
        let judged = AttributeTable(columns: columns).judge(points)
        // What has no column yet stays with the point; what has the wrong type never counts. Each is told once.
        #expect(
            judged.points.map(\.attributes) == [
                ["fuel": .double(51), "colour": .integer(1)], [:], ["colour": .integer(2)],
            ])
        #expect(judged.ignored.map(\.key) == ["colour", "fuel"])
        #expect(judged.ignored.map(\.reason) == [.unknownKey, .wrongType])
        #expect(AttributeTable().judge(points).ignored.isEmpty)
    }

    @Test func beforeTheColumnsAreKnownValuesAreKeptAndJudgedThen() {
        var table = AttributeTable()
        #expect(table.set(["fuel": .integer(51), "door": .string("x"), "other": .integer(1)], now: 0) == [])
        #expect(table.attributes(now: 0).count == 3)
        #expect(reasons(table.learn(columns)) == ["door": .wrongType, "other": .unknownKey])
        #expect(table.attributes(now: 0) == ["fuel": .double(51)])
        // A later login without the column.
        #expect(reasons(table.learn([columns[1]])) == ["fuel": .unknownKey])
        #expect(table.attributes(now: 0) == [:])
        #expect(table.learn([]) == [])
        #expect(table.columnList == [])
        table.forgetColumns()
        #expect(table.columnList == nil)
    }

    @Test func aFloorNeedsNoColumn() {
        let floor = AttributeColumn(key: "floor", type: .string)
        var table = AttributeTable(columns: columns + [floor])
        for (given, name) in [
            (.integer(2), "2"), (.double(2), "2"), (.double(1.5), "1.5"), (.string("B1"), "B1"), (.integer(-1), "-1"),
            (.string("02"), "02"), (.string(String(repeating: "é", count: 64)), String(repeating: "é", count: 64)),
        ] as [(AttributeValue, String)] {
            #expect(table.set(["floor": given], now: 0) == [])
            #expect(table.attributes(now: 0) == ["floor": .string(name)])
            #expect(table.floor(now: 0) == name)
        }
        let ignored = table.set(["floor": .string(String(repeating: "x", count: 129))], now: 0)
        #expect(reasons(ignored) == ["floor": .invalid])
        #expect(ignored.first?.detail.contains("at most 128 bytes") == true)
        // An empty one says that nobody knows, also against a program that was surer before.
        #expect(table.set(["floor": .string("")], now: 0) == [])
        #expect(table.attributes(now: 0) == [:])
        #expect(table.floor(now: 0) == nil)
        _ = table.set(["floor": .integer(3)], expires: 100, now: 0)
        #expect(table.floor(now: 99) == "3" && table.floor(now: 100) == nil)
        let provided: [[String: AttributeValue]] = [["floor": .string("4")], ["fuel": .double(1)]]
        #expect(table.floor(provided: provided, now: 0) == "4")
        #expect(table.attributes(provided: provided, now: 0) == ["floor": .string("4"), "fuel": .double(1)])
        #expect(table.floor(provided: [["floor": .string("")]], now: 0) == nil)
        #expect(table.attributes(provided: [["floor": .string("")]], now: 0) == [:])
        // A full service has it behind all its columns.
        let many = (0..<AttributeValue.maximumCount).map { AttributeColumn(key: "c\($0)", type: .integer) }
        #expect(table.learn(many + [floor]) == [])
        #expect(table.attributes(now: 0) == ["floor": .string("3")])
    }

    @Test func anOlderServerTakesNoFloors() {
        var table = AttributeTable()
        _ = table.set(["floor": .integer(2), "fuel": .integer(1)], now: 0)
        #expect(table.attributes(now: 0) == ["floor": .string("2"), "fuel": .integer(1)])
        // It tells no column for them: points go without, and the vehicle's own fences know it all the same.
        #expect(table.learn(columns) == [])
        #expect(table.attributes(now: 0) == ["fuel": .double(1)])
        #expect(table.floor(now: 0) == "2")
        #expect(table.attributes(provided: [["floor": .string("3")]], now: 0) == ["fuel": .double(1)])
        #expect(table.floor(provided: [["floor": .string("3")]], now: 0) == "3")
        #expect(table.learn(columns + [AttributeColumn(key: "floor", type: .string)]) == [])
        #expect(table.attributes(now: 0) == ["floor": .string("2"), "fuel": .double(1)])
    }

    @Test func whatProvidersGaveWinsAndTheLaterProviderMore() {
        var table = AttributeTable(columns: columns)
        _ = table.set(["fuel": .double(1), "driver": .string("set")], now: 0)
        let provided: [[String: AttributeValue]] = [["fuel": .double(2), "door": .integer(1)], ["fuel": .double(3)]]
        #expect(
            table.attributes(provided: provided, now: 0)
                == ["fuel": .double(3), "door": .integer(1), "driver": .string("set")])
        // It was for that point alone.
        #expect(table.attributes(now: 1) == ["fuel": .double(1), "driver": .string("set")])
    }

    @Test func aPointCarriesNoMoreThanItMay() {
        var table = AttributeTable()
        let many = Dictionary(uniqueKeysWithValues: (100..<170).map { ("k\($0)", AttributeValue.integer($0)) })
        let ignored = table.set(many, now: 0)
        #expect(ignored.map(\.key) == ["k164", "k165", "k166", "k167", "k168", "k169"])
        #expect(ignored.allSatisfy { $0.reason == .tooMany })
        let long = AttributeValue.string(String(repeating: "x", count: 1024))
        let provided = Dictionary(uniqueKeysWithValues: (0..<64).map { ("p\($0)", long) })
        let carried = table.attributes(provided: [provided], now: 0)
        #expect(carried.count <= AttributeValue.maximumCount)
        let bytes = carried.reduce(0) { sum, item in
            guard case .string(let text) = item.value else { return sum + item.key.utf8.count }
            return sum + item.key.utf8.count + text.utf8.count
        }
        #expect(bytes <= AttributeTable.maximumBytes)
        #expect(bytes > AttributeTable.maximumBytes / 2)
        var texts = AttributeTable()
        let refused = texts.set(provided, now: 0)
        #expect(!refused.isEmpty && refused.count < 64)
        #expect(refused.allSatisfy { $0.reason == .tooMany })
    }

    @Test func textsAndNumbersHaveTheirRules() {
        let table = AttributeTable(columns: columns)
        let judged = table.judge([
            "driver": .string(String(repeating: "x", count: 1025)), "fuel": .double(.infinity), "door": .integer(.min),
        ])
        #expect(judged.taken == ["door": .integer(.min)])
        #expect(reasons(judged.ignored) == ["driver": .invalid, "fuel": .invalid])
    }
}
