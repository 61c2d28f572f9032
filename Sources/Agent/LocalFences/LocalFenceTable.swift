package import Geofencing
package import TrackModel

/// The fences of the box's own: their numbers, their limits, and how they change. It judges nothing.
package struct LocalFenceTable: Hashable, Sendable {
    package struct Limits: Hashable, Sendable {
        package var fences = 10_000
        /// Of all fences together.
        package var vertices = 200_000
        /// Of all fences together, as they are on the disk.
        package var bytes = 16 << 20
        /// Of one fence without its vertices, so that it fits into a message.
        package var fenceBytes = 192 * 1024
        /// In the list of one fence.
        package var watched = 10_000

        package init() {}
    }

    /// What an import did.
    package struct Imported: Hashable, Sendable {
        package var created: [Int32] = []
        package var updated: [Int32] = []
        package var unchanged: [Int32] = []
        package var deleted: [Int32] = []
        /// Those of the updated ones whose area is another one.
        var reshaped: [Int32] = []
    }

    package let limits: Limits
    package private(set) var fences: KeptFences
    /// No number is given twice.
    package private(set) var nextFence: Int32
    /// What the names of time zones stand for, as far as they are known.
    package var zones: [String: ZoneOffsets] = [:]

    package init(_ fences: KeptFences = KeptFences(), nextFence: Int32 = 1, limits: Limits = Limits()) {
        self.limits = limits
        self.fences = fences
        let last = fences.numbers.last ?? 0
        self.nextFence = max(nextFence, last == .max ? .max : last + 1)
    }

    /// In the order of their numbers; each is made when it is asked for.
    package var all: some Sequence<LocalFence> { fences.numbers.lazy.compactMap { fences[$0] } }

    // MARK: Changes, whole or not at all

    /// `now`: the system's clock, for people; `since`: no point before is judged.
    package mutating func create(
        _ definitions: [FenceDefinition], now: Timestamp, since: Timestamp
    ) throws(FenceRefusal) -> [Int32] {
        var table = self
        var numbers: [Int32] = []
        for (index, definition) in definitions.enumerated() {
            numbers.append(try table.add(definition, index, now: now, since: since))
        }
        try table.checkLimits()
        self = table
        return numbers
    }

    package mutating func update(
        _ number: Int32, _ definition: FenceDefinition, now: Timestamp, since: Timestamp
    ) throws(FenceRefusal) -> FenceEdit {
        var table = self
        let edit = try table.change(number, definition, 0, now: now, since: since)
        try table.checkLimits()
        self = table
        return edit
    }

    package mutating func delete(_ numbers: some Sequence<Int32>) throws(FenceRefusal) {
        let numbers = Array(numbers)
        for number in numbers where !fences.contains(number) { throw FenceRefusal(unknown: number) }
        for number in numbers { fences[number] = nil }
    }

    /// Fences of one file and layer, as their origins say: features that are there are updated, new ones created, and those
    /// that are in the list no more deleted. The fences of the features in `kept` stay as they are. `changes` are about fences of
    /// any origin; in a refusal they count on from `definitions`.
    package mutating func importing(
        _ definitions: [FenceDefinition], keeping kept: Set<String> = [], changes: [FenceImports.Change] = [],
        file: String, layer: String?, now: Timestamp, since: Timestamp
    ) throws(FenceRefusal) -> Imported {
        var table = self
        var outcome = Imported()
        var known: [String: Int32] = [:]
        for fence in all {
            guard let origin = fence.fence.definition.origin, origin.file == file, origin.layer == layer else {
                continue
            }
            known[origin.feature] = fence.fence.id
        }
        for (index, change) in changes.enumerated() {
            if let origin = fences[change.fence]?.fence.definition.origin, known[origin.feature] == change.fence {
                known[origin.feature] = nil
            }
            switch try table.change(
                change.fence, change.definition, definitions.count + index, now: now, since: since)
            {
            case .nothing: outcome.unchanged.append(change.fence)
            case .description, .rule: outcome.updated.append(change.fence)
            case .area:
                outcome.updated.append(change.fence)
                outcome.reshaped.append(change.fence)
            }
        }
        for (index, definition) in definitions.enumerated() {
            guard let feature = definition.origin?.feature, let number = known.removeValue(forKey: feature) else {
                outcome.created.append(try table.add(definition, index, now: now, since: since))
                continue
            }
            switch try table.change(number, definition, index, now: now, since: since) {
            case .nothing: outcome.unchanged.append(number)
            case .description, .rule: outcome.updated.append(number)
            case .area:
                outcome.updated.append(number)
                outcome.reshaped.append(number)
            }
        }
        for (feature, number) in known.sorted(by: { $0.value < $1.value }) {
            guard !kept.contains(feature) else {
                outcome.unchanged.append(number)
                continue
            }
            table.fences[number] = nil
            outcome.deleted.append(number)
        }
        try table.checkLimits()
        self = table
        return outcome
    }

    /// The receiver's time began anew at `time`: fences that seem to come to be in the future are there already.
    ///
    /// - Returns: whether there was such a fence.
    mutating func timeBeganAnew(at time: Timestamp) -> Bool { fences.begin(by: time) }

    /// Fences were made, and others got another area, some time ago, and judge only from now on.
    mutating func begin(_ created: [Int32], reshaped: [Int32], since: Timestamp) {
        for number in created { fences.begin(number, since: since) }
        for number in reshaped { fences.revise(number, at: since) }
    }

    /// The fence has begun to watch an entity: no point of it before `since` is judged.
    mutating func join(_ number: Int32, _ entity: ExactName, since: Timestamp) {
        fences[number]?.join(entity, since: since)
    }

    // MARK: Steps

    private mutating func add(
        _ definition: FenceDefinition, _ index: Int, now: Timestamp, since: Timestamp
    ) throws(FenceRefusal) -> Int32 {
        guard nextFence < .max else { throw FenceRefusal(.tooMany, "all numbers of fences have been given") }
        let number = nextFence
        let fence: LocalFence
        do throws(FenceError) {
            fence = LocalFence(try Fence(id: number, definition, at: now), since: since)
            _ = try fence.plan(for: "", zones)
        } catch {
            throw FenceRefusal(.definition(index, error.rule), error.description)
        }
        try checkSize(of: fence, index)
        nextFence += 1
        fences[number] = fence
        return number
    }

    private mutating func change(
        _ number: Int32, _ definition: FenceDefinition, _ index: Int, now: Timestamp, since: Timestamp
    ) throws(FenceRefusal) -> FenceEdit {
        guard var fence = fences[number] else { throw FenceRefusal(unknown: number) }
        let edit: FenceEdit
        do throws(FenceError) {
            edit = try fence.fence.update(definition, at: now)
            _ = try fence.plan(for: "", zones)
        } catch {
            throw FenceRefusal(.definition(index, error.rule), error.description)
        }
        try checkSize(of: fence, index)
        if edit == .area { fence.revised = since }
        if edit != .nothing { fences[number] = fence }
        return edit
    }

    private func checkSize(of fence: LocalFence, _ index: Int) throws(FenceRefusal) {
        let watched = fence.fence.definition.watch.entities.count
        guard watched <= limits.watched else {
            throw FenceRefusal(
                .definition(index, .watch),
                "\(watched) entities are watched: a fence of the agent's names at most \(limits.watched), watch all of them instead"
            )
        }
        let bytes = fence.encoded.count - 16 * fence.vertexCount
        guard bytes <= limits.fenceBytes else {
            throw FenceRefusal(
                .definition(index, .origin),
                "the fence has \(bytes) bytes without its vertices: it has at most \(limits.fenceBytes), shorten names, params and attributes"
            )
        }
    }

    private func checkLimits() throws(FenceRefusal) {
        guard fences.count <= limits.fences else {
            throw FenceRefusal(
                .tooMany, "\(fences.count) fences: the agent keeps at most \(limits.fences), delete some first")
        }
        guard fences.vertices <= limits.vertices else {
            throw FenceRefusal(
                .tooMany,
                "\(fences.vertices) vertices in all fences: the agent keeps at most \(limits.vertices), simplify the shapes"
            )
        }
        guard fences.bytes <= limits.bytes else {
            throw FenceRefusal(
                .tooMany,
                "\(fences.bytes) bytes in all fences: the agent keeps at most \(limits.bytes), shorten params and attributes"
            )
        }
    }
}

/// Why the box's fences were not changed. Nothing has changed. The text names the value, the rule and what to do.
package struct FenceRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case unknownFence(Int32)
        /// Of the definition with this place in the list that was given.
        case definition(Int, FenceError.Rule)
        case tooMany
        /// The fences on the disk could not be read, and a change would write over them.
        case unreadable
        /// A text of an import, or its order.
        case text
    }

    package let reason: Reason
    package let description: String

    package init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }

    package init(unknown number: Int32) {
        self.init(
            .unknownFence(number), "there is no local fence \(number): list the fences to see their numbers")
    }
}
