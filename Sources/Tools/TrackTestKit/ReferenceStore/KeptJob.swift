import TrackModel
import TrackStore

/// What jobs of exports and of frequent routes have in common.
protocol ClaimableJob {
    associatedtype Result
    var number: Int64 { get }
    var service: ServiceID { get }
    var modified: Timestamp { get set }
    var isWaiting: Bool { get }
    var isDone: Bool { get }
    mutating func begin()
    /// Done with a result; without one it waits again.
    mutating func end(_ result: Result?)
}

extension ExportRecord: ClaimableJob {
    var isWaiting: Bool { state == .waiting }
    var isDone: Bool { state == .done }
    mutating func begin() { state = .running }
    mutating func end(_ result: ExportResult?) { (state, self.result) = (result == nil ? .waiting : .done, result) }
}

extension RouteJobRecord: ClaimableJob {
    var isWaiting: Bool { state == .waiting }
    var isDone: Bool { state == .done }
    mutating func begin() { state = .running }
    mutating func end(_ result: RouteJobResult?) { (state, self.result) = (result == nil ? .waiting : .done, result) }
}

/// A job of the reference store, with the worker that has it.
struct KeptJob<Record: ClaimableJob> {
    var record: Record
    var claim: (worker: Int64, end: Timestamp)?
    /// A worker has had it since it began to wait.
    var wasTried = false
}

extension Array {
    /// Gives a worker the job that has been due for longest: since it waits, or since its service last had a worker.
    mutating func claim<Record>(by worker: Int64, at now: Timestamp, through end: Timestamp) -> Record?
    where Element == KeptJob<Record> {
        let free = indices.filter { index in
            !self[index].record.isDone && self[index].claim.map { $0.end < now || $0.worker == worker } ?? true
        }
        let tried = filter { !$0.record.isWaiting || $0.wasTried }.map(\.record)
        let last = Dictionary(tried.map { ($0.service, $0.modified) }, uniquingKeysWith: Swift.max)
        func due(_ index: Int) -> (Timestamp, Timestamp, Int64) {
            let record = self[index].record
            return (Swift.max(record.modified, last[record.service] ?? record.modified), record.modified, record.number)
        }
        guard let index = free.min(by: { due($0) < due($1) }) else { return nil }
        self[index].record.begin()
        self[index].record.modified = now
        (self[index].claim, self[index].wasTried) = ((worker, end), true)
        return self[index].record
    }

    /// False: the worker does not have the job any more.
    mutating func keep<Record>(_ number: Int64, by worker: Int64, through end: Timestamp) -> Bool
    where Element == KeptJob<Record> {
        guard let index = claimed(number, by: worker) else { return false }
        self[index].claim = (worker, end)
        return true
    }

    /// False: the worker does not have the job any more.
    mutating func settle<Record>(
        _ number: Int64, by worker: Int64, _ result: Record.Result?, at now: Timestamp
    ) -> Bool where Element == KeptJob<Record> {
        guard let index = claimed(number, by: worker) else { return false }
        self[index].claim = nil
        self[index].record.end(result)
        self[index].record.modified = now
        return true
    }

    private func claimed<Record>(_ number: Int64, by worker: Int64) -> Int? where Element == KeptJob<Record> {
        firstIndex { $0.record.number == number && $0.claim?.worker == worker }
    }

    /// Returns how many were removed.
    mutating func remove<Record>(doneBefore: Timestamp) -> Int where Element == KeptJob<Record> {
        let former = count
        removeAll { $0.record.isDone && $0.record.modified < doneBefore }
        return former - count
    }
}
