import ConfigurationFile
import Foundation
import ProgramTestKit
import StoreRecords
import Synchronization
import Systemd
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import ServerRuntime

/// systemd ends a server whose store hangs, and none that has much to do.
@Suite(.timeLimit(.minutes(2))) struct WatchdogTests {
    /// A store whose readers are all in use for ever, and whose probe answers when the test says.
    private struct BusyStore: StoreDecorator {
        let inner: any EngineStore
        let gate: Gate

        func passing<Value: Sendable>(
            _ call: (any EngineStore) async throws(TrackStoreError) -> Value
        ) async throws(TrackStoreError) -> Value {
            try? await Task.sleep(for: .seconds(3600))
            throw TrackStoreError(.busy, "every reader is in use")
        }

        func probe() async throws(TrackStoreError) {
            try await gate.pass()
        }
    }

    private actor Gate {
        private var isOpen: Bool
        private var isBroken = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(isOpen: Bool) { self.isOpen = isOpen }

        func pass() async throws(TrackStoreError) {
            guard !isBroken else { throw TrackStoreError(.closed, "the store is closed") }
            guard !isOpen else { return }
            await withCheckedContinuation { waiting.append($0) }
        }

        func breakDown() { isBroken = true }

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    private struct Setup {
        let directory: TemporaryDirectory
        let listener: NotifyListener
        let lines = RecordedLines()
        let gate: Gate
        let watchdog: Watchdog

        init(isOpen: Bool, timeout: Duration) throws {
            directory = try TemporaryDirectory()
            listener = try NotifyListener(path: directory.file("notify"))
            gate = Gate(isOpen: isOpen)
            watchdog = Watchdog(
                store: BusyStore(inner: TestStore(), gate: gate),
                notifier: Notifier(environment: ["NOTIFY_SOCKET": listener.path]), timeout: timeout,
                logger: lines.logger
            ) { "7 agents logged in" }
        }

        var signs: Int { listener.received.split(separator: "\n").count { $0 == "WATCHDOG=1" } }
    }

    @Test func queuedReadsOfTheWebAPIDoNotKeepTheSignBack() async throws {
        let setup = try Setup(isOpen: true, timeout: .milliseconds(40))
        let work = Task { try await setup.watchdog.run() }
        _ = try await eventually { setup.signs >= 3 ? true : nil }
        #expect(setup.listener.received.contains("STATUS=7 agents logged in"))
        #expect(setup.lines.texts.isEmpty)
        work.cancel()
        try await work.value
    }

    @Test func aStoreThatHangsGetsNoSignAndIsNamedInTime() async throws {
        let setup = try Setup(isOpen: false, timeout: .milliseconds(40))
        let work = Task { try await setup.watchdog.run() }
        _ = try await eventually { setup.lines.texts.isEmpty ? nil : true }
        #expect(setup.lines.texts.first?.hasPrefix("the store does not answer") == true)
        #expect(setup.signs == 0 && setup.listener.received.contains("STATUS=the store does not answer"))
        await setup.gate.open()
        _ = try await eventually { setup.signs >= 2 ? true : nil }
        #expect(setup.lines.texts.count == 2 && setup.lines.texts.last == "the store answers again")
        work.cancel()
        try await work.value
    }

    @Test func aStoreThatFailsGetsNoSign() async throws {
        let setup = try Setup(isOpen: true, timeout: .milliseconds(40))
        await setup.gate.breakDown()
        let work = Task { try await setup.watchdog.run() }
        _ = try await eventually { setup.lines.texts.isEmpty ? nil : true }
        #expect(setup.signs == 0)
        work.cancel()
        try await work.value
    }
}
