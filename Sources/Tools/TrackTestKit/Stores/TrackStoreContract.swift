import StoreRecords
import Synchronization
package import TrackModel
package import TrackStore

/// What every ``TrackStore`` must do: a suite of checks for each protocol, that any test can run against any implementation.
package enum TrackStoreContract {
    /// Every suite.
    package static var all: [TrackStoreCheck] {
        services + devices + enrolment + health + columns + entities + searches + points + pushes + fences + alarms
            + callbacks
            + districts
            + exports + routeJobs + upkeep + retention + answers + serviceDeletion + changes
    }

    /// ``PointStore``
    package static var points: [TrackStoreCheck] {
        claims + streams + batches + versions + hints + ranges + histories
    }
}

/// One sentence of the contract. Throws ``ContractViolation`` when a store breaks it.
package struct TrackStoreCheck: Sendable, CustomStringConvertible {
    package let description: String
    package let run: @Sendable (TrackStoreSubject) async throws -> Void

    init(_ description: String, _ run: @escaping @Sendable (TrackStoreSubject) async throws -> Void) {
        self.description = description
        self.run = run
    }
}

/// The implementation under test.
package struct TrackStoreSubject: Sendable {
    /// A new, empty store.
    let make: @Sendable () async throws -> any TrackStore
    /// The wire's batch payload of some points, as an agent would send it.
    let encode: @Sendable ([TrackPoint]) -> EncodedPoints

    package init(
        encode: @escaping @Sendable ([TrackPoint]) -> EncodedPoints,
        make: @escaping @Sendable () async throws -> any TrackStore
    ) {
        self.make = make
        self.encode = encode
    }

    /// A new store with one service.
    func withService() async throws -> (store: any TrackStore, service: ServiceID) {
        let store = try await make()
        return (store, try await store.createService(named: "fleet", at: .at(0)).id)
    }

    /// A batch as the gateway hands it on, without a claim: point k has sequence `first + k`.
    func batch(
        _ service: ServiceID, entity: String = "truck", stream: StreamID = .one, first: UInt64,
        _ points: [TrackPoint], received: Timestamp = .at(100_000)
    ) -> IngestBatch {
        IngestBatch(
            service: service, entity: entity,
            position: StreamPosition(
                stream: stream, epoch: 0, previous: 0, first: first, count: UInt32(points.count)), points: points,
            sequences: points.indices.map { first + UInt64($0) }, payload: encode(points), received: received)
    }

    /// Points that belong to no stream.
    func custom(
        _ service: ServiceID, entity: String = "truck", _ points: [TrackPoint],
        received: Timestamp = .at(100_000)
    ) -> IngestBatch {
        IngestBatch(
            service: service, entity: entity, position: nil, points: points, sequences: [], payload: nil,
            received: received)
    }
}

/// A store does not do what the contract says.
package struct ContractViolation: Error, CustomStringConvertible {
    package let description: String
}

/// Throws a violation that names both values.
func expect<Value: Equatable>(
    _ value: Value, is wanted: Value, _ what: String, line: UInt = #line, file: String = #fileID
) throws {
    guard value != wanted else { return }
    throw ContractViolation(description: "\(file):\(line): \(what): \(value), but it must be \(wanted)")
}

/// Throws a violation unless the call throws this code.
func expect<Value>(
    _ code: TrackStoreError.Code, line: UInt = #line, file: String = #fileID,
    _ body: () async throws -> Value
) async throws {
    do {
        _ = try await body()
    } catch let error as TrackStoreError {
        return try expect(error.code, is: code, "the error \"\(error.detail)\"", line: line, file: file)
    }
    throw ContractViolation(description: "\(file):\(line): it must throw \(code), but it returned")
}

extension Timestamp {
    /// Seconds after the beginning of the tests' time, 2023-11-14T22:13:20Z.
    package static func at(_ seconds: Int64) -> Timestamp {
        Timestamp(seconds: 1_700_000_000 + seconds)
    }
}

extension StreamID {
    static let one = StreamID(high: 1, low: 1)
    static let two = StreamID(high: 1, low: 2)
}

extension TrackPoint {
    /// A point at a second of the tests' time whose `mark` tells it from others of that second.
    static func sample(_ seconds: Int64, mark: Int64 = 0) -> TrackPoint {
        let wobble = Int32(truncatingIfNeeded: seconds &* 37 &+ mark &* 101)
        guard
            let place = Coordinate(
                latitudeE7: 520_000_000 &+ wobble % 1_000_000, longitudeE7: 43_000_000 &+ wobble % 700_000)
        else { return TrackPoint(Fix(time: .at(seconds), coordinate: .origin)) }
        return TrackPoint(
            Fix(
                time: .at(seconds), coordinate: place, speed: 1200 + Int32(mark % 50), course: 905,
                altitude: nil, accuracy: 35, mode: .threeDimensional, satellites: 9),
            attributes: mark == 0 ? [:] : ["mark": .integer(mark)])
    }

    static func samples(_ seconds: some Sequence<Int64>, mark: Int64 = 0) -> [TrackPoint] {
        seconds.map { sample($0, mark: mark) }
    }
}

extension Coordinate {
    fileprivate static var origin: Coordinate {
        guard let origin = Coordinate(latitudeE7: 0, longitudeE7: 0) else { preconditionFailure("0, 0 is a place") }
        return origin
    }
}

extension StoreMaintenance {
    /// Merges at a time at which all that tests store is old enough.
    package func merge(limit: Int) async throws(TrackStoreError) -> Int {
        try await mergeChunks(limit: limit, at: .at(1_000_000_000))
    }
}

extension PointStore {
    /// Everything an entity has.
    func history(
        of entity: String = "truck", in service: ServiceID, limit: Int = 1_000_000
    ) async throws(TrackStoreError) -> [StoredPoint] {
        try await points(
            of: entity, in: service, from: Timestamp(milliseconds: .min), through: Timestamp(milliseconds: .max),
            limit: limit)
    }
}

extension TrackStoreContract {
    /// How answers look: ``ServiceStore``.
    package static var answers: [TrackStoreCheck] {
        [
            TrackStoreCheck("a service says how its clients are answered, and a part of it may be left open") {
                subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                try expect(try await store.answers(of: service), is: AnswerForms(), "at first")
                for vertices in [VertexForm.objects, .text, nil] {
                    for status in [UnknownEntityStatus.notFound, .success, nil] {
                        let answers = AnswerForms(vertices: vertices, unknownEntity: status)
                        try await store.setAnswers(answers, of: service)
                        try expect(try await store.answers(of: service), is: answers, "set")
                        try expect(try await store.services().map(\.answers), is: [answers, AnswerForms()], "listed")
                        try expect(try await store.answers(of: other), is: AnswerForms(), "of the other")
                    }
                }
                try await store.setAnswers(AnswerForms(vertices: .text), of: service)
                try await store.renameService(service, to: "new")
                try expect(try await store.answers(of: service).vertices, is: .text, "after a change of something else")
            },
            TrackStoreCheck("a service that is not there says nothing") { subject in
                let (store, service) = try await subject.withService()
                let missing = try unwrapped(ServiceID(rawValue: 99), "a number")
                try await expect(.unknownService) { try await store.answers(of: missing) }
                try await expect(.unknownService) { try await store.setAnswers(AnswerForms(), of: missing) }
                try await store.deleteService(service)
                try await expect(.unknownService) { try await store.answers(of: service) }
            },
        ]
    }
}

extension EntityStore {
    /// Makes the entity when the service does not have it.
    package func haveEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        do throws(TrackStoreError) {
            try await addEntity(NewEntity(name: name), in: service, at: now)
        } catch {
            guard error.code == .entityExists else { throw error }
        }
    }
}

/// A store whose transactions wait at a gate, or fail as told; all else is the store inside.
package final class GateStore: StoreDecorator {
    private struct State {
        var isOpen = false
        var failures: [TrackStoreError] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    package let inner: any EngineStore
    private let state: Mutex<State>
    /// One element a transaction that has arrived at the gate: its number of batches.
    package let arrivals: AsyncStream<Int>
    private let arrived: AsyncStream<Int>.Continuation

    package init(_ inner: any EngineStore, isOpen: Bool = false, failures: [TrackStoreError] = []) {
        self.inner = inner
        state = Mutex(State(isOpen: isOpen, failures: failures))
        (arrivals, arrived) = AsyncStream.makeStream()
    }

    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    package func ingest(_ batches: [IngestBatch]) async -> [IngestOutcome] {
        arrived.yield(batches.count)
        await withCheckedContinuation { continuation in
            let mayPass = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if mayPass { continuation.resume() }
        }
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let failure { return batches.map { _ in .failed(failure) } }
        return await inner.ingest(batches)
    }
}
