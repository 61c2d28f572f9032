import Geofencing
import TrackModel
import TrackStore

extension TrackStoreContract {
    /// Whom fences watched at earlier versions, in random histories.
    static var watchHistories: [TrackStoreCheck] {
        [
            TrackStoreCheck("whom fences watched is known for every version, whoever came and went since") { subject in
                let seed = UInt64.random(in: .min ... .max)
                do {
                    var history = try await WatchHistory(seed: seed, subject)
                    try await history.run(steps: 90)
                } catch {
                    throw ContractViolation(description: "seed \(seed): \(error)")
                }
            }
        ]
    }
}

/// Random changes of fences, and what each of them was after each change: lists of bytes, and no code of the store's.
private struct WatchHistory {
    /// A fence after a change.
    private struct State {
        let fence: Fence
        /// Names as bytes; nil: everyone.
        let names: [[UInt8]]?

        func watches(_ name: String) -> Bool { names.map { $0.contains(Array(name.utf8)) } ?? true }
    }

    /// Two spellings of one text are two names; one name begins another, and one is long.
    private static let names =
        (1...12).map { "vehicle_\($0)" } + ["vehicle", "caf\u{E9}", "cafe\u{301}", String(repeating: "n", count: 128)]

    private let store: any TrackStore
    private let service: ServiceID
    private var random: SplitMix
    private var second: Int64 = 1
    private var present: [Int32: State] = [:]
    /// All fences after each change, by the version that the change has made.
    private var versions: [(version: Int64, fences: [Int32: State])] = []
    /// The newest version that the store has forgotten.
    private var forgotten: Int64?

    init(seed: UInt64, _ subject: TrackStoreSubject) async throws {
        random = SplitMix(state: seed)
        (store, service) = try await subject.withService()
        for name in Self.names { try await store.haveEntity(named: name, in: service, at: .at(0)) }
    }

    mutating func run(steps: Int) async throws {
        for _ in 0..<steps {
            second += Int64(1 + below(3))
            try await step()
        }
        try await compare("with all versions")
        let middle = second / 2
        while try await store.removeFenceNotices(before: .at(middle), limit: 1 + below(9)) > 0 {}
        forgotten = versions.last { $0.version < Timestamp.at(middle).milliseconds }?.version
        try await compare("when the first half is forgotten")
        for _ in 0..<10 {
            second += 1
            try await step()
        }
        second += 1
        _ = try await store.deleteFences(matching: FenceFilter(), in: service, at: .at(second))
        if !present.isEmpty { try await changed([:]) }
        try await compare("when all fences are deleted")
        try expect(try await store.checkIntegrity(), is: [], "integrity")
    }

    // MARK: Changes

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &random) }

    private mutating func step() async throws {
        let fences = present.keys.sorted()
        switch below(12) {
        case 0...1 where fences.count < 5, 0... where fences.isEmpty:
            let names = nextNames(after: nil)
            let record = try await store.createFence(
                try definition(names, FenceDefinition.sample("a")), in: service, at: .at(second))
            try await changed(to: State(fence: record.fence, names: names), record.version)
        case 2:
            let fence = fences[below(fences.count)]
            _ = try await store.deleteFences(matching: FenceFilter(fences: [fence]), in: service, at: .at(second))
            var others = present
            others[fence] = nil
            try await changed(others)
        case 3:
            // The fences that name an entity stay as they are, and watch the next one of its name.
            let name = Self.names[below(Self.names.count)]
            try await store.deleteEntity(named: name, in: service, at: .at(second))
            try await store.haveEntity(named: name, in: service, at: .at(second))
        default:
            let fence = fences[below(fences.count)]
            guard let state = present[fence] else { return }
            var definition = state.fence.definition
            if below(3) == 0 { definition.group = below(2) == 0 ? nil : "g\(second)" }
            if below(6) == 0 { definition.denoise = Int32(10 + below(3)) }
            let names = below(5) == 0 ? state.names : nextNames(after: state.names)
            definition = try self.definition(names, definition)
            let former = try await store.fence(fence, in: service)?.version ?? 0
            let record = try await store.updateFence(
                fence, to: definition, expecting: former, in: service, at: .at(second))
            if record.version != former {
                try await changed(to: State(fence: record.fence, names: names), record.version)
            }
        }
    }

    /// One more, one less, some others, all, nobody, everyone.
    private mutating func nextNames(after former: [[UInt8]]?) -> [[UInt8]]? {
        let all = Self.names.map { Array($0.utf8) }
        let some = former ?? []
        switch below(9) {
        case 0: return nil
        case 1: return []
        case 2: return all
        case 3: return all.filter { _ in below(2) == 0 }
        case 4...5: return some.isEmpty ? [all[0]] : some.filter { $0 != some[below(some.count)] }
        default: return some + [all[below(all.count)]]
        }
    }

    private mutating func definition(_ names: [[UInt8]]?, _ definition: FenceDefinition) throws -> FenceDefinition {
        var definition = definition
        let texts = (names ?? []).map { String(decoding: $0, as: UTF8.self) }.shuffled(using: &random)
        definition.watch = names == nil ? .everyone : try FenceSubjects(texts)
        return definition
    }

    private mutating func changed(to state: State, _ version: Int64) async throws {
        present[state.fence.id] = state
        versions.append((version, present))
    }

    private mutating func changed(_ fences: [Int32: State]) async throws {
        present = fences
        let entity = EntityKey(service: service, name: Self.names[0])
        versions.append((try await store.fences(watching: entity, page: Page(offset: 0, limit: 1)).version, present))
    }

    // MARK: Comparison

    private func compare(_ when: String) async throws {
        for name in Self.names {
            let entity = EntityKey(service: service, name: name)
            let watching = Set(present.values.filter { $0.watches(name) }.map(\.fence))
            for (version, fences) in versions {
                let told = "\(name) at version \(version), \(when)"
                let difference = try await store.fenceDifference(of: entity, since: version)
                try expect(difference.version, is: versions.last?.version ?? 0, "the version of now: \(told)")
                guard version >= forgotten ?? version else {
                    try expect(difference.changes, is: nil, "what is forgotten: \(told)")
                    continue
                }
                guard let changes = difference.changes else {
                    throw ContractViolation(description: "not known: \(told)")
                }
                let ids = Set(changes.map(\.fence))
                try expect(ids.count, is: changes.count, "a fence changes once: \(told)")
                let then = watching.filter { !ids.contains($0.id) }.union(changes.compactMap { $0.former?.fence })
                try expect(then, is: Set(fences.values.filter { $0.watches(name) }.map(\.fence)), "then: \(told)")
                let now = Set(changes.compactMap { $0.present?.record.fence })
                try expect(now, is: watching.filter { ids.contains($0.id) }, "now: \(told)")
                let idle = changes.contains { $0.former == nil && $0.present == nil }
                try expect(idle, is: false, "changes that concern nobody: \(told)")
            }
        }
    }
}
