import Ingest
import Logging
import Synchronization
import TrackModel
import TrackStore

/// Keeps how vehicles are, and tells the store, many vehicles in one transaction.
///
/// A report is nobody's track: when the store does not take it, the next one comes within a minute. So reports never wait
/// beside points, and nothing of them is repeated.
final class HealthReportWriter: Sendable {
    /// A report is in the store this long after it came, at the latest, unless the store is behind.
    static let interval = Duration.seconds(5)
    /// Rows of one transaction: a batch of points waits no longer than they take.
    static let rowsAtOnce = 500

    private let store: any TrackStore
    private let registry: SessionRegistry
    private let tasks: ServerTasks
    private let logger: Logger
    private let waiting = Mutex<[EntityKey: HealthNote]>([:])

    init(
        store: any TrackStore, registry: SessionRegistry, tasks: ServerTasks, logger: Logger
    ) {
        self.store = store
        self.registry = registry
        self.tasks = tasks
        self.logger = logger
    }

    /// A sign of life, with or without a report. `vehicle`: who it is.
    func heard(_ report: HealthReport?, from vehicle: HealthNote, at now: Timestamp) {
        var note = vehicle
        note.heard = now
        waiting.withLock { waiting in
            note.report = report ?? waiting[note.entity]?.report
            waiting[note.entity] = note
        }
    }

    /// The vehicle has said goodbye, unless another session of its entity goes on.
    func left(_ vehicle: HealthNote, at now: Timestamp) {
        guard registry.links(of: vehicle.entity.name, in: vehicle.entity.service).count <= 1 else { return }
        var note = vehicle
        note.heard = now
        note.hasLeft = true
        waiting.withLock { waiting in
            note.report = waiting[note.entity]?.report
            waiting[note.entity] = note
        }
    }

    /// Works until it is cancelled, and then tells what is left.
    func run() async {
        var isFailing = false
        while !Task.isCancelled {
            await tasks.sleep(Self.interval)
            isFailing = await tell(wasFailing: isFailing)
        }
        _ = await tell(wasFailing: isFailing)
    }

    /// True: the store did not take them.
    private func tell(wasFailing: Bool) async -> Bool {
        let notes = waiting.withLock { waiting in
            defer { waiting = [:] }
            return waiting.values.sorted {
                ($0.entity.service, $0.entity.name) < ($1.entity.service, $1.entity.name)
            }
        }
        var rest = notes[...]
        while !rest.isEmpty {
            let group = Array(rest.prefix(Self.rowsAtOnce))
            rest = rest.dropFirst(group.count)
            // Not a child of a task that is cancelled: the last notes say who has left.
            let store = store
            let result = await Task(executorPreference: tasks.executor) { () -> Result<Void, TrackStoreError> in
                do throws(TrackStoreError) {
                    return .success(try await store.noteHealth(group))
                } catch {
                    return .failure(error)
                }
            }.value
            if case .failure(let error) = result {
                if !wasFailing {
                    logger.warning(
                        "how vehicles are could not be stored; their next reports are tried again",
                        metadata: ["reason": "\(error.detail)", "vehicles": "\(notes.count)"])
                }
                return true
            }
        }
        return false
    }
}
