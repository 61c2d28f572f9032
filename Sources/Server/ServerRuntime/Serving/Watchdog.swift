import Logging
import ServiceLifecycle
import Synchronization
import Systemd
import TrackStore

/// Proves to systemd that the process can still do what it is there for: run a task, and read the store.
///
/// The store is asked in a way that calls of the Web API cannot occupy, and the task has a priority, so threads, of its own: a
/// server with much to do is no server that hangs. systemd ends a server whose store hangs for the whole timeout.
struct Watchdog: Service {
    let store: any StoreMaintenance
    let notifier: Notifier
    /// After so long without a sign systemd ends the process.
    let timeout: Duration
    let logger: Logger
    let status: @Sendable () -> String

    func run() async throws {
        let work = Task(priority: .high) { await watch() }
        await cancelWhenGracefulShutdown {
            await withTaskCancellationHandler {
                await work.value
            } onCancel: {
                work.cancel()
            }
        }
    }

    /// Signs come at a quarter of the timeout: one that is late ends nothing.
    private func watch() async {
        let trouble = StoreSilence()
        while !Task.isCancelled {
            let late = Task(priority: .high) {
                // Said before systemd acts: then nobody can say it any more.
                try await Task.sleep(for: timeout / 2)
                complain("it has not answered for \(timeout / 2)", once: trouble)
            }
            do throws(TrackStoreError) {
                try await store.probe()
                late.cancel()
                notifier.watchdog()
                notifier.status(status())
                if trouble.end() { logger.notice("the store answers again") }
            } catch {
                late.cancel()
                if !Task.isCancelled { complain(error.detail, once: trouble) }
            }
            try? await Task.sleep(for: timeout / 4)
        }
    }

    private func complain(_ reason: String, once trouble: StoreSilence) {
        guard trouble.begin() else { return }
        notifier.status("the store does not answer")
        logger.error(
            "the store does not answer: systemd starts the server anew if that goes on",
            metadata: ["reason": "\(reason)"])
    }
}

/// Whether the store's silence has been told.
private final class StoreSilence: Sendable {
    private let isTold = Mutex(false)

    /// False: it was told before.
    func begin() -> Bool { !change(to: true) }

    /// False: there was none.
    func end() -> Bool { change(to: false) }

    private func change(to new: Bool) -> Bool {
        isTold.withLock { told in
            defer { told = new }
            return told
        }
    }
}
