import AgentControl
import AlarmLog
import Geofencing
import JSON
import LocalFences
import NIOCore
import NIOEmbedded
import Systemd
import Testing
import TrackCache
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

// A long import is read and worked out beside the event loop.
extension FenceShellTests {
    /// Points do not wait for a text of many megabytes.
    @Test func fixesAreJudgedWhileAnImportIsReadAndWorkedOut() throws {
        let setup = try Setup()
        setup.shell.started(entity: "van", service: 7)
        _ = try setup.fence("old")
        let first = setup.shell.take(Setup.part(["a"], isLast: false))
        let second = setup.shell.take(Setup.part(["b"], number: 1))
        #expect(setup.bench.outcome(first) == nil && setup.slow.count == 2)
        // The parts are read in the order in which they came.
        setup.slow.work()
        #expect(try setup.bench.outcome(first)?.get() == .part(lines: 1) && setup.bench.outcome(second) == nil)
        try setup.driveIn()
        for _ in 0..<4 { setup.journal.work() }
        #expect(setup.actions == ["enter"])
        setup.slow.work()
        guard case .whole(let whole)? = try setup.bench.outcome(second)?.get() else {
            Issue.record("the import is not whole")
            return
        }
        let imported = setup.shell.importing(whole)
        #expect(setup.bench.outcome(imported) == nil && setup.shell.current.book.fences.count == 1)
        try setup.driveOut(from: 40)
        for _ in 0..<4 { setup.journal.work() }
        #expect(setup.actions == ["enter", "exit"])
        // Somebody makes a fence meanwhile: the import is worked out once more, and both are there.
        _ = try setup.fence("meanwhile")
        setup.slow.work()
        #expect(setup.bench.outcome(imported) == nil && setup.slow.count == 1)
        setup.slow.work()
        #expect(try setup.bench.outcome(imported)?.get().created.count == 2)
        #expect(setup.shell.current.book.fences.count == 4)
        try setup.driveIn(from: 100)
        for _ in 0..<4 { setup.journal.work() }
        #expect(Set(setup.actions.dropFirst(2)) == ["enter"], "\(setup.actions)")
    }

    @Test func anImportThatIsRefusedChangesNothing() throws {
        let setup = try Setup()
        let taken = setup.shell.take(.init(file: "yards", layer: nil, text: "{}", name: nil, number: 0, isLast: true))
        setup.slow.work()
        #expect(setup.bench.refusal(taken) == .parameterError)
        let late = setup.shell.take(Setup.part(["a"], number: 3))
        setup.slow.work()
        #expect(setup.bench.refusal(late) == .parameterError)
        setup.slow.accepts = false
        #expect(setup.bench.refusal(setup.shell.take(Setup.part(["a"]))) == .busy)
        #expect(setup.shell.current.book.fences.isEmpty)
    }

    /// Whoever changes fences again and again does not keep an import from its end.
    @Test func anImportEndsHoweverOftenFencesChange() throws {
        let setup = try Setup()
        let taken = setup.shell.take(Setup.part(["a"], name: nil))
        setup.slow.work()
        guard case .whole(let whole)? = try setup.bench.outcome(taken)?.get() else {
            Issue.record("the import is not whole")
            return
        }
        let imported = setup.shell.importing(whole)
        var changes = 0
        while setup.slow.count > 0, changes < 20 {
            _ = try setup.fence("\(changes)")
            changes += 1
            setup.slow.work()
        }
        #expect(try setup.bench.outcome(imported)?.get().created.count == 1 && changes < 20)
        #expect(setup.shell.current.book.fences.count == changes + 1)
    }
}
