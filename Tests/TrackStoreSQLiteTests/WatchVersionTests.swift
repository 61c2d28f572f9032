import Geodesy
import Geofencing
import SQLDatabase
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackStoreSQLite

/// The names of former states of fences, in rows of their own.
@Suite struct WatchVersionTests {
    private let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    private static func definition(_ names: [String]?) throws -> FenceDefinition {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 52, longitude: 4), radius: 100)))
        definition.watch = try names.map { try FenceSubjects($0) } ?? .everyone
        return definition
    }

    private struct Size: Equatable {
        var states = 0
        var rows = 0
        var bytes = 0
    }

    /// What is kept of the former states of a fence that got so many names one by one.
    private func size(after count: Int) async throws -> Size {
        let store = try await bench.openAnother()
        let service = try await store.createService(named: "fleet", at: .at(0)).id
        var names: [String] = []
        var record = try await store.createFence(try Self.definition([]), in: service, at: .at(0))
        for number in 0..<count {
            names.append("vehicle_\(1000 + number)")
            try await store.haveEntity(named: names[number], in: service, at: .at(0))
            record = try await store.updateFence(
                1, to: try Self.definition(names), expecting: record.version, in: service, at: .at(Int64(number)))
        }
        return try await store.database.write { database in
            try Size(
                states: database.value(Int.self, "SELECT COUNT(*) FROM former_fence") ?? 0,
                rows: (database.value(Int.self, "SELECT COUNT(*) FROM fence_watch") ?? 0)
                    + (database.value(Int.self, "SELECT COUNT(*) FROM former_watch") ?? 0),
                bytes: database.value(Int.self, "SELECT SUM(length(content)) FROM former_fence") ?? 0)
        }
    }

    /// With the names in each state, 400 names would take some 1.1 MB.
    @Test func aNameCostsOneRow() async throws {
        let few = try await size(after: 100)
        let many = try await size(after: 400)
        #expect(few.states == 100 && few.rows == 100)
        #expect(many.states == 400 && many.rows == 400)
        #expect(many.bytes == 4 * few.bytes)
        #expect(many.bytes < 400 * 100, "\(many.bytes) bytes")
    }

    /// A store as the program of schema 23 wrote it: each state has its names in its content.
    private func write(_ states: [[String]?], isDeleted: Bool, spoiled: Int?) throws {
        let file = try SQLiteConnection(path: bench.path, .create)
        try Schema.migrate(file, through: 23)
        try file.transaction {
            try file.execute("INSERT INTO service (id, name, created) VALUES (1, 'fleet', 5)")
            try file.execute("INSERT INTO fence_counter (service, last) VALUES (1, 1)")
            let last = states.count + (isDeleted ? 1 : 0)
            try file.execute("UPDATE fence_clock SET last = ?, forgotten = 9", [9 + last])
            var since: [ExactName: Int64] = [:]
            for (number, names) in states.enumerated() {
                let version = Int64(10 + number)
                let content = try Fence(id: 1, Self.definition(names), at: Timestamp(milliseconds: 10)).encoded
                let isPresent = number + 1 == states.count && !isDeleted
                let next = states.indices.contains(number + 1) ? states[number + 1] : []
                try file.execute(
                    "INSERT INTO fence_news (version, service, fence, time, everyone) VALUES (?, 1, 1, ?, 0)",
                    [version, version])
                for name in names ?? [] where since[ExactName(name)] == nil { since[ExactName(name)] = version }
                if isPresent {
                    let watch = names.map { min($0.count, 2) } ?? 3
                    try file.execute(
                        "INSERT INTO fence (service, id, version, watch, everyone_since, content) VALUES (1, 1, ?, ?, ?, ?)",
                        [version, watch, names == nil ? version : nil, content])
                    for (name, time) in since {
                        try file.execute(
                            "INSERT INTO fence_watch (service, entity, fence, since) VALUES (1, ?, 1, ?)",
                            [name.text, time])
                    }
                    continue
                }
                try file.execute(
                    """
                    INSERT INTO former_fence (service, fence, version, until, replaced, everyone_since, content)
                    VALUES (1, 1, ?, ?, ?, ?, ?)
                    """,
                    [
                        version, version + 1, version + 1, names == nil ? version : nil,
                        number == spoiled ? [0xFF] : content,
                    ])
                let staying = Set((next ?? []).map { ExactName($0) })
                for (name, time) in since where !staying.contains(name) {
                    since[name] = nil
                    try file.execute(
                        "INSERT INTO former_watch (service, entity, fence, until, since) VALUES (1, ?, 1, ?, ?)",
                        [name.text, version + 1, time])
                }
            }
            if isDeleted {
                try file.execute(
                    "INSERT INTO fence_news (version, service, fence, time, everyone) VALUES (?, 1, 1, 99, 0)",
                    [9 + last])
            }
        }
        file.close()
    }

    private static let names = ["bus", "caf\u{E9}", "cafe\u{301}", "truck", "van"]

    private static let history: [[String]?] = [
        [], ["van"], ["bus", "van"], ["bus"], ["bus", "caf\u{E9}"], ["bus", "cafe\u{301}"], nil, ["bus", "van"], [],
        names,
        ["truck", "van"], ["truck"], ["truck", "van"],
    ]

    @Test(arguments: [false, true], [nil, 0, 2, 4, 9, 11] as [Int?])
    func theStatesOfSchemaTwentyThreeMeanWhatTheyMeant(_ isDeleted: Bool, _ spoiled: Int?) async throws {
        try write(Self.history, isDeleted: isDeleted, spoiled: spoiled)
        let store = try await bench.open()
        let service = try #require(ServiceID(rawValue: 1))
        #expect(try await store.checkIntegrity() == [])
        for (number, names) in Self.history.enumerated() where isDeleted || number + 1 < Self.history.count {
            let fence = try Fence(id: 1, Self.definition(names), at: Timestamp(milliseconds: 10))
            for name in Self.names {
                let difference = try await store.fenceDifference(
                    of: EntityKey(service: service, name: name), since: Int64(10 + number))
                let changes = try #require(difference.changes)
                let isWatched = fence.definition.watch.contains(name)
                #expect(
                    changes.first?.former?.fence == (isWatched && number != spoiled ? fence : nil),
                    "\(name) at \(number)")
                // Nobody knows whom a state watched that cannot be read: those of the next one count.
                let next = Self.history.dropFirst(number + 1).first.flatMap(\.self) ?? []
                let isNext = next.contains { ExactName($0) == ExactName(name) }
                #expect(
                    difference.unreadable.map(\.fence) == (number == spoiled && (isWatched || isNext) ? [1] : []),
                    "\(name) at \(number)")
            }
        }
        let bytes = try await store.database.write { database in
            try database.value(Int.self, "SELECT MAX(length(content)) FROM former_fence") ?? 0
        }
        let bare = try Fence(id: 1, Self.definition([]), at: Timestamp(milliseconds: 10)).encoded.count
        // The flag of everyone takes a byte.
        #expect(bytes <= bare + 1)
    }
}
