import AgentControl
import AlarmLog
import DiskRing
import Geofencing
import JSON
import LocalFences
import NIOCore
import NIOEmbedded
import Systemd
import Testing
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
        #expect(setup.bench.outcome(imported) == nil && setup.shell.current.table.fences.count == 1)
        try setup.driveOut(from: 40)
        for _ in 0..<4 { setup.journal.work() }
        #expect(setup.actions == ["enter", "exit"])
        // Somebody makes a fence meanwhile: the import is worked out once more, and both are there.
        _ = try setup.fence("meanwhile")
        setup.slow.work()
        #expect(setup.bench.outcome(imported) == nil && setup.slow.count == 1)
        setup.slow.work()
        #expect(try setup.bench.outcome(imported)?.get().created.count == 2)
        #expect(setup.shell.current.table.fences.count == 4)
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
        #expect(setup.shell.current.table.fences.isEmpty)
    }

    private func whole(_ setup: Setup, _ features: [String] = ["a"], file: String = "yards") throws
        -> FenceImports.Whole
    {
        var part = Setup.part(features, name: nil)
        part.text.replace("\"yards\"", with: "\"\(file)\"")
        part.file = file
        let taken = setup.shell.take(part)
        setup.slow.work()
        let outcome = try setup.bench.outcome(taken)?.get()
        let whole: FenceImports.Whole? = if case .whole(let whole)? = outcome { whole } else { nil }
        return try #require(whole)
    }

    /// Whoever changes fences again and again does not keep an import from its end: the last attempt has the fences to itself.
    @Test func anImportEndsHoweverOftenFencesChange() throws {
        let setup = try Setup()
        let imported = setup.shell.importing(try whole(setup))
        var changes = 0
        var refusal: AgentControlError?
        while setup.slow.count > 0, changes < 20 {
            do {
                _ = try setup.fence("\(changes)")
                changes += 1
            } catch let error as AgentControlError {
                refusal = error
            }
            #expect(setup.bench.outcome(imported) == nil)
            setup.slow.work()
        }
        #expect(try setup.bench.outcome(imported)?.get().created.count == 1 && changes == 3)
        #expect(setup.shell.current.table.fences.count == changes + 1)
        #expect(refusal?.code == .busy && refusal?.reason.contains("nothing has changed") == true)
        _ = try setup.fence("after")
    }

    /// The thread of long work is full: the import waits for it, and the loop does nothing of it.
    @Test func anImportWaitsForTheThreadOfLongWork() throws {
        let setup = try Setup()
        let whole = try whole(setup)
        setup.slow.accepts = false
        let imported = setup.shell.importing(whole)
        setup.bench.loop.advanceTime(by: .seconds(60))
        #expect(setup.bench.outcome(imported) == nil && setup.shell.current.table.fences.isEmpty)
        _ = try setup.fence("meanwhile")
        setup.slow.accepts = true
        setup.bench.loop.advanceTime(by: .seconds(1))
        #expect(setup.bench.outcome(imported) == nil && setup.slow.count == 1)
        setup.slow.work()
        #expect(try setup.bench.outcome(imported)?.get().created.count == 1)
    }

    @Test func importsArePutInForceOneAfterTheOther() throws {
        let setup = try Setup()
        let wholes = try (0..<6).map { try whole(setup, ["f\($0)"], file: "file \($0)") }
        let all = wholes.map { setup.shell.importing($0) }
        // The first one is under way since it was given.
        #expect(all.map { setup.bench.refusal($0) == .busy } == [false, false, false, false, true, true])
        var done: [Int] = []
        for _ in 0..<4 {
            setup.slow.work()
            done.append(all.prefix(4).count { setup.bench.outcome($0) != nil })
        }
        #expect(done == [1, 2, 3, 4] && setup.slow.count == 0)
        #expect(setup.shell.current.table.fences.count == 4)
    }

    @Test func whoeverWaitsIsAnsweredWhenTheAgentStops() throws {
        let setup = try Setup()
        let imported = setup.shell.importing(try whole(setup))
        setup.shell.shutDown()
        #expect(setup.bench.refusal(imported) == .busy)
        setup.slow.work()
        #expect(setup.shell.current.table.fences.isEmpty)
    }
}
