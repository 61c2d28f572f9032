internal import FenceJSON
package import Geofencing
internal import JSON
package import TrackModel

/// Imports on their way: a long text comes in parts, and nothing changes before the last of them.
///
/// The text is JSON lines. A line is a fence with its origin, `{"keep": FEATURE}`, or `{"change": NUMBER, "fence": FENCE}` for
/// a fence that came from elsewhere. Knows no clock.
package struct FenceImports {
    package struct Limits: Hashable, Sendable {
        /// Imports that have begun and not ended.
        package var imports = 2
        /// Milliseconds after which an import is forgotten that gets no part.
        package var idleTimeout: Int64 = 60_000
        /// Of a text, and of one line of it. A fence has at most 200,000 vertices of some 45 bytes.
        package var bytes = 24 << 20
        package var lineBytes = 12 << 20
        package var lines = 20_000
        /// Values of JSON in one line: a place takes three.
        package var values = 700_000

        package init() {}
    }

    /// What one part is, and where it belongs.
    package struct Part: Hashable, Sendable {
        package var file: String
        package var layer: String?
        package var text: String
        /// Nil: the import has this part only.
        package var name: String?
        /// From 0.
        package var number: Int64
        package var isLast: Bool

        package init(file: String, layer: String?, text: String, name: String?, number: Int64, isLast: Bool) {
            self.file = file
            self.layer = layer
            self.text = text
            self.name = name
            self.number = number
            self.isLast = isLast
        }
    }

    /// What becomes of a fence, whatever file it came from.
    package struct Change: Hashable, Sendable {
        package var fence: Int32
        package var definition: FenceDefinition
        /// From 1.
        package var line: Int

        package init(fence: Int32, definition: FenceDefinition, line: Int) {
            self.fence = fence
            self.definition = definition
            self.line = line
        }
    }

    /// A whole import.
    package struct Whole: Hashable, Sendable {
        package var file: String
        package var layer: String?
        package var definitions: [FenceDefinition] = []
        /// The line of each definition, from 1.
        package var lines: [Int] = []
        /// Features whose fences stay as they are.
        package var kept: Set<String> = []
        /// Fences of any origin by their numbers, as they become.
        package var changes: [Change] = []
        /// Lines that were read.
        package var count = 0
    }

    package enum Taken: Hashable, Sendable {
        /// So many lines have been read.
        case part(lines: Int)
        case whole(Whole)
    }

    private struct UnderWay {
        var whole: Whole
        var next: Int64 = 0
        var rest: [UInt8] = []
        var bytes = 0
        var features: Set<String> = []
        var changed: Set<Int32> = []
        var deadline: MonotonicTime
    }

    private let limits: Limits
    private var underWay: [String: UnderWay] = [:]

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Imports that wait for their next part.
    package var count: Int { underWay.count }

    /// - Throws: ``FenceRefusal``; the import is forgotten then, and nothing has changed.
    package mutating func take(_ part: Part, now: MonotonicTime) throws(FenceRefusal) -> Taken {
        forget(now: now)
        var current = try begin(part, now: now)
        if let name = part.name { underWay[name] = nil }
        current.next += 1
        current.deadline = now + limits.idleTimeout
        current.bytes += part.text.utf8.count
        guard current.bytes <= limits.bytes else {
            throw Self.refused("the text has more than \(limits.bytes) bytes: import fewer fences at a time")
        }
        current.rest += Array(part.text.utf8)
        try readLines(of: &current)
        guard part.isLast else {
            if let name = part.name { underWay[name] = current }
            return .part(lines: current.whole.count)
        }
        if !current.rest.isEmpty { try read(current.rest[...], into: &current) }
        return .whole(current.whole)
    }

    /// Forgets the imports that have waited for too long.
    package mutating func forget(now: MonotonicTime) {
        underWay = underWay.filter { $0.value.deadline > now }
    }

    private func begin(_ part: Part, now: MonotonicTime) throws(FenceRefusal) -> UnderWay {
        guard part.number > 0, let name = part.name else {
            guard part.isLast || underWay.count < limits.imports || part.name.map({ underWay[$0] != nil }) == true
            else {
                throw Self.refused(
                    "\(underWay.count) imports are under way: end one, or wait \(limits.idleTimeout / 1000) s until the agent forgets it"
                )
            }
            return UnderWay(whole: Whole(file: part.file, layer: part.layer), deadline: now + limits.idleTimeout)
        }
        guard let current = underWay[name] else {
            throw Self.refused(
                "part \(part.number) of the import '\(name)' came, and the agent has no part before it: begin anew with part 0"
            )
        }
        guard current.next == part.number else {
            throw Self.refused(
                "part \(part.number) of the import '\(name)' came, and part \(current.next) is due: send the parts in order"
            )
        }
        guard current.whole.file == part.file, current.whole.layer == part.layer else {
            throw Self.refused("the parts of the import '\(name)' name different files or layers: give the same ones")
        }
        return current
    }

    private func readLines(of current: inout UnderWay) throws(FenceRefusal) {
        var start = current.rest.startIndex
        while let end = current.rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
            try read(current.rest[start..<end], into: &current)
            start = end + 1
        }
        current.rest.removeSubrange(..<start)
        guard current.rest.count <= limits.lineBytes else {
            throw Self.refused(
                "line \(current.whole.count + 1): more than \(limits.lineBytes) bytes: give the fence fewer vertices")
        }
    }

    private func read(_ line: ArraySlice<UInt8>, into current: inout UnderWay) throws(FenceRefusal) {
        current.whole.count += 1
        let number = current.whole.count
        guard number <= limits.lines else {
            throw Self.refused("more than \(limits.lines) lines: import fewer fences at a time")
        }
        guard line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") }) else { return }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.value(
                of: Array(line), JSONRules(maximumBytes: limits.lineBytes, maximumValues: limits.values))
        } catch {
            throw Self.refused("line \(number): \(error)")
        }
        if let members = value.objectValue, members.count == 1, let kept = members["keep"] {
            guard let feature = kept.stringValue else {
                throw Self.refused("line \(number): keep is \(kept.kind), and the id of a feature is needed, a text")
            }
            current.whole.kept.insert(feature)
            return
        }
        if let members = value.objectValue, members.count == 2, let given = members["change"],
            let fence = members["fence"]
        {
            guard let id = given.integerValue.flatMap(Int32.init(exactly:)) else {
                throw Self.refused("line \(number): change is \(given.kind), and the number of a fence is needed")
            }
            guard current.changed.insert(id).inserted else {
                throw Self.refused("line \(number): the fence \(id) stands twice: change it once")
            }
            let changed = Change(fence: id, definition: try definition(fence, number), line: number)
            return current.whole.changes.append(changed)
        }
        let definition = try definition(value, number)
        guard let origin = definition.origin, origin.file == current.whole.file, origin.layer == current.whole.layer
        else {
            throw Self.refused(
                "line \(number): fence.origin must name the file and the layer of the import, and the feature")
        }
        guard current.features.insert(origin.feature).inserted else {
            throw Self.refused(
                "line \(number): the feature \(FenceJSONError.quoted(origin.feature)) stands twice: give each feature one fence"
            )
        }
        current.whole.definitions.append(definition)
        current.whole.lines.append(number)
    }

    private func definition(_ value: JSONValue, _ line: Int) throws(FenceRefusal) -> FenceDefinition {
        do throws(FenceJSONError) {
            return try FenceDefinition(json: value)
        } catch {
            throw Self.refused("line \(line): \(error)")
        }
    }

    private static func refused(_ text: String) -> FenceRefusal { FenceRefusal(.text, text) }
}

/// An import that is worked out beside the event loop, for the fences as they were when it began. It may take seconds.
package struct FenceImportWork: Sendable {
    package let whole: FenceImports.Whole
    /// Of the machine when this began.
    fileprivate let changes: UInt64
    fileprivate let table: LocalFenceTable
    fileprivate let entity: String?
    fileprivate let now: Timestamp
    fileprivate let since: Timestamp

    /// What an import makes of the fences.
    package struct Done: Sendable {
        fileprivate let changes: UInt64
        fileprivate let table: LocalFenceTable
        fileprivate let outcome: LocalFenceTable.Imported
        fileprivate let since: Timestamp
        fileprivate let entity: String?
        fileprivate let field: FenceField?
        fileprivate let notJudged: [FenceMachine.Action]
    }

    /// Takes its time; on any thread.
    ///
    /// - Throws: ``FenceRefusal``, which names the line.
    package func run() throws(FenceRefusal) -> Done {
        var table = table
        let outcome: LocalFenceTable.Imported
        do throws(FenceRefusal) {
            outcome = try table.importing(
                whole.definitions, keeping: whole.kept, changes: whole.changes, file: whole.file, layer: whole.layer,
                now: now, since: since)
        } catch {
            throw error.named(inLinesOf: whole)
        }
        let field = entity.map { FenceMachine.field(of: table, for: $0) }
        return Done(
            changes: changes, table: table, outcome: outcome, since: since, entity: entity, field: field?.0,
            notJudged: field?.1 ?? [])
    }
}

// Imports, in two steps with the long one between them.
extension FenceMachine {
    /// Begins an import. ``FenceImportWork/run()`` works it out, and ``adopt(_:)`` puts it in force.
    package func beginImport(
        _ whole: FenceImports.Whole, now: SystemTime
    ) throws(FenceRefusal) -> FenceImportWork {
        try checkReadable()
        return FenceImportWork(
            whole: whole, changes: changes, table: table, entity: judged?.entity,
            now: Timestamp(milliseconds: now.milliseconds), since: nextPoint)
    }

    /// Whether the fences are as they were when the work began: what it says of them still holds.
    package func isCurrent(_ work: FenceImportWork) -> Bool { changes == work.changes }

    /// Puts an import in force that was worked out. Nil: the fences have changed meanwhile, so it must begin anew.
    package mutating func adopt(
        _ done: FenceImportWork.Done
    ) -> (outcome: LocalFenceTable.Imported, actions: [Action])? {
        guard changes == done.changes, unreadable == nil else { return nil }
        let (before, outcome) = (table, done.outcome)
        var new = done.table
        // Points of the meantime were judged without these fences.
        new.begin(outcome.created, reshaped: outcome.reshaped, since: nextPoint)
        table = new
        judge.forget(outcome.deleted)
        watchMayHaveChanged(outcome.updated, from: before)
        let touched = outcome.created + outcome.updated + outcome.deleted
        guard !touched.isEmpty else { return (outcome, []) }
        guard let field = done.field, let now = judged, now.entity == done.entity else {
            return (outcome, changed(touched))
        }
        judged?.field = field
        let next = nextPoint
        if !outcome.created.isEmpty || !outcome.reshaped.isEmpty { judged?.field.changed(at: next) }
        return (outcome, done.notJudged + save())
    }
}

extension FenceRefusal {
    /// A refusal of a definition names its line.
    fileprivate func named(inLinesOf whole: FenceImports.Whole) -> FenceRefusal {
        let lines = whole.lines + whole.changes.map(\.line)
        guard case .definition(let index, _) = reason, index < lines.count else { return self }
        return FenceRefusal(reason, "line \(lines[index]): \(description)")
    }
}
