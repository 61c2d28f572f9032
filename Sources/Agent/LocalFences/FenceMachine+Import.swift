internal import Geofencing
package import TrackModel

/// An import that is worked out beside the event loop, for the fences as they were when it began. It may take seconds.
package struct FenceImportWork: Sendable {
    package let whole: FenceImports.Whole
    /// Of the machine when this began.
    fileprivate let changes: UInt64
    fileprivate let book: FenceBook
    fileprivate let entity: String?
    fileprivate let now: Timestamp
    fileprivate let since: Timestamp

    /// What an import makes of the fences.
    package struct Done: Sendable {
        fileprivate let changes: UInt64
        fileprivate let book: FenceBook
        fileprivate let outcome: FenceBook.Imported
        fileprivate let since: Timestamp
        fileprivate let entity: String?
        fileprivate let field: FenceField?
        fileprivate let notJudged: [FenceMachine.Action]
    }

    /// Takes its time; on any thread.
    ///
    /// - Throws: ``FenceRefusal``, which names the line.
    package func run() throws(FenceRefusal) -> Done {
        var book = book
        let outcome: FenceBook.Imported
        do throws(FenceRefusal) {
            outcome = try book.importing(
                whole.definitions, keeping: whole.kept, changes: whole.changes, file: whole.file, layer: whole.layer,
                now: now, since: since)
        } catch {
            throw error.named(inLinesOf: whole)
        }
        let field = entity.map { FenceMachine.field(of: book, for: $0) }
        return Done(
            changes: changes, book: book, outcome: outcome, since: since, entity: entity, field: field?.0,
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
            whole: whole, changes: changes, book: book, entity: judged?.entity,
            now: Timestamp(milliseconds: now.milliseconds), since: nextPoint)
    }

    /// Whether the fences are as they were when the work began: what it says of them still holds.
    package func isCurrent(_ work: FenceImportWork) -> Bool { changes == work.changes }

    /// Puts an import in force that was worked out. Nil: the fences have changed meanwhile, so it must begin anew.
    package mutating func adopt(
        _ done: FenceImportWork.Done
    ) -> (outcome: FenceBook.Imported, actions: [Action])? {
        guard changes == done.changes, unreadable == nil else { return nil }
        let (before, outcome) = (book, done.outcome)
        var new = done.book
        // Points of the meantime were judged without these fences.
        new.begin(outcome.created, reshaped: outcome.reshaped, since: nextPoint)
        book = new
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
