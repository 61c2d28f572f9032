import FenceJudging
import Geofencing
import TrackModel
import TrackStore

/// The fences of a service, as the judge has read them.
struct JudgedService: Sendable {
    private(set) var fences: ServiceFences
    /// Whether some fence of the service watches entities by name.
    var hasNaming: Bool
    /// Changes when a change of fences does not say which entities it concerns.
    private(set) var generation = 0
    /// The number of the last change that is in `fences`, or an earlier one.
    private(set) var version: Int64
    /// Fences that cannot be read, over everyone and of entities that were met: they are not judged.
    private(set) var unreadable: Set<Int32> = []
    /// The fences over everyone cannot be read. The judge reads them again with the next change.
    private(set) var isLost = false
    /// The fences over everyone without those that some vehicles had in another revision.
    private var others: [Set<Int32>: ServiceFences] = [:]
    /// Another task builds a new index from the fences as they were; nil: none does.
    private var packing: Packing?

    private struct Packing {
        let number: Int
        /// What has changed since.
        var changed: Set<Int32> = []
    }

    /// Earlier versions of the fences that are kept in memory.
    private static let mostOthers = 4

    init(_ fences: ServiceFences, hasNaming: Bool, version: Int64) {
        self.fences = fences
        self.hasNaming = hasNaming
        self.version = version
    }

    /// The fences over everyone cannot be read: none of them is judged. The points are stored all the same.
    init(lost zones: @escaping ZoneTable) {
        self.init(ServiceFences(zones: zones), hasNaming: true, version: 0)
        isLost = true
    }

    /// Whether a vehicle may have judged by other fences than the present ones, or has just got them.
    func hasOthers(_ used: FencesUsed) -> Bool {
        used.version < version || used.base > 0 && used.base < used.version
    }

    /// The fences over everyone without those that a vehicle had in another revision.
    mutating func fences(without hidden: Set<Int32>) -> ServiceFences {
        if let kept = others[hidden] { return kept }
        if others.count >= Self.mostOthers { others = [:] }
        let without = fences.without(hidden)
        others[hidden] = without
        return without
    }

    // MARK: Changes

    /// Some fences were made, changed or deleted; `found`: those of them that there are now. Returns those that cannot be
    /// read.
    mutating func apply(_ notices: [FenceChangeNotice], _ found: ReadableFences) -> [UnreadableFence] {
        others = [:]
        version = max(version, notices.map(\.version).max() ?? 0)
        if notices.contains(where: { $0.entities == nil }) { generation += 1 }
        let records = Dictionary(found.fences.map { ($0.fence.id, $0) }, uniquingKeysWith: { first, _ in first })
        for fence in Set(notices.map(\.fence)) {
            unreadable.remove(fence)
            fences.change(fence, to: records[fence])
            packing?.changed.insert(fence)
        }
        return found.unreadable
    }

    /// Returns those that were not reported before.
    mutating func cannotRead(_ found: [UnreadableFence]) -> [UnreadableFence] {
        found.filter { unreadable.insert($0.fence).inserted }
    }

    // MARK: The index

    var isPacking: Bool { packing != nil }

    /// The fences for which another task should build a new index; nil when the index is good, or is being built.
    mutating func beginPacking(_ number: Int) -> ServiceFences? {
        guard packing == nil, fences.isWorn else { return nil }
        packing = Packing(number: number)
        return fences
    }

    /// The new index is built. False: it was not asked for.
    mutating func packed(_ new: ServiceFences, _ number: Int) -> Bool {
        guard let packing, packing.number == number else { return false }
        self.packing = nil
        fences = fences.packed(as: new, changed: packing.changed)
        others = [:]
        return true
    }
}

/// Fences and fence state of an entity, as the judge has read them. An object, because each batch would copy a value twice.
final class JudgedEntity {
    enum Own: Sendable {
        case none
        case some(OwnFences)
    }

    /// Nil: they must be read.
    var own: Own?
    var generation = 0
    /// Nil: it must be read.
    var state: (remembered: JudgedState, version: Int64)?
    /// The fences by which the entity's vehicle judged; nil when the store has them no longer.
    var earlier: [FencesUsed: JudgingFences?] = [:]
    /// The version of the service at which `earlier` was read.
    var earlierOf: Int64 = 0
}

/// A table that removes the values that were used longest ago: about `capacity` values stay.
struct RecentTable<Key: Hashable, Value> {
    private let half: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    init(capacity: Int) {
        half = max(1, capacity / 2)
    }

    /// A reading counts as a use.
    subscript(key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old.removeValue(forKey: key) else { return nil }
            keep(value, for: key)
            return value
        }
        set {
            old[key] = nil
            if let newValue { keep(newValue, for: key) } else { young[key] = nil }
        }
    }

    private mutating func keep(_ value: Value, for key: Key) {
        if young.count >= half, young[key] == nil { (old, young) = (young, [:]) }
        young[key] = value
    }
}
