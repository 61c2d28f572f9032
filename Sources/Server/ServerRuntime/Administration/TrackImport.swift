package import ConfigurationFile
import TrackExport
import TrackFiles
package import TrackModel
package import TrackStore
import WebAPI

/// Brings points from files of exports into a service, also while a server runs on the same store.
package struct TrackImport: Sendable {
    /// Points that are stored at one time, and that are held for all entities together.
    private static let batch = 1000
    private static let held = 50_000
    /// Batches of one transaction: points of vehicles wait no longer than it takes.
    private static let batchesAtOnce = 25
    /// Refused lines that are told one by one.
    package static let mostRefusals = 20

    /// What an import has done, or would do.
    package struct Outcome: Hashable, Sendable {
        /// Points that are stored, or could be.
        package var points = 0
        /// Points that a later one of the same entity and time has replaced, or would.
        package var replaced = 0
        /// False: some of ``points`` may have been replaced, too. There are too many to tell.
        package var isExact = true
        package var entities = 0
        /// Lines that are no points, and why the first of them are none.
        package var refused = 0
        package var refusals: [String] = []
        /// Members of `custom_data` for which the service has no track column, ascending.
        package var withoutColumn: [String] = []
        /// Points whose height cannot be, and is left out.
        package var impossibleHeights = 0
    }

    /// How far an import is.
    package struct Progress: Hashable, Sendable {
        /// Bytes of the files' content, unpacked.
        package let bytes: UInt64
        package let of: UInt64
        package let points: Int
    }

    private let store: any TrackStore
    private let acts: AuditLog
    private let service: ServiceID
    private let writing: StepwiseWriting

    /// Opens the store of a configuration; it must exist, and have the service.
    package init(_ configuration: ServerConfiguration, service: Int64) async throws(ServerError) {
        try await self.init(store: try await StoreFactory.openForCommand(configuration.store).store, service: service)
    }

    init(
        store: any TrackStore, service: Int64, writing: StepwiseWriting = StepwiseWriting(),
        acts: AuditLog = AuditLog()
    ) async throws(ServerError) {
        let services: [ServiceRecord]
        do throws(TrackStoreError) {
            services = try await store.services()
        } catch {
            throw ServerError(error)
        }
        guard let known = services.first(where: { $0.id.rawValue == service }) else {
            throw ServerError(
                .notFound, "there is no service \(service): saker-server service list shows the services")
        }
        self.service = known.id
        self.store = store
        self.writing = writing
        self.acts = acts
    }

    /// Imports the points of some files. A point of the same entity and time replaces the one that is there, so an import that
    /// was cut short is run once more. No fence judges them. `isTrial`: nothing is stored.
    /// `onProgress` is called after each piece of a file.
    package func importFiles(
        _ paths: [String], isTrial: Bool, now: Timestamp, onProgress: ((Progress) -> Void)? = nil
    ) async throws(ServerError) -> Outcome {
        var outcome = Outcome()
        // Also of an import that fails in its middle: what it has stored stays.
        defer {
            if !isTrial, outcome.points > 0 {
                acts.note(
                    .trackImport, in: service, about: "\(outcome.points) points of \(outcome.entities) entities")
            }
        }
        do {
            var work = Work(columns: try await store.columns(of: .track, in: service), now: now)
            work.onProgress = onProgress
            var writing = writing
            defer { outcome = work.outcome(isTrial: isTrial) }
            if onProgress != nil {
                // A file that cannot be read is told when its turn comes.
                for path in paths {
                    guard let file = try? ZipFile(path) else { continue }
                    // Sizes are what a file says of itself.
                    for entry in Self.entries(of: file) {
                        let (sum, isTooMuch) = work.total.addingReportingOverflow(entry.bytes)
                        work.total = isTooMuch ? .max : sum
                    }
                }
            }
            for path in paths {
                let file = try ZipFile(path)
                let entries = Self.entries(of: file)
                guard !entries.isEmpty else {
                    throw ServerError(.file, "\(path) has no .json file in it: it is no file of an export")
                }
                for entry in entries {
                    try await read(
                        try file.reader(of: entry), "\(path): \(entry.name)", into: &work, &writing, isTrial)
                }
            }
            return work.outcome(isTrial: isTrial)
        } catch let error as ServerError {
            throw error
        } catch let error as TrackStoreError {
            throw ServerError(error)
        } catch {
            throw ServerError(.file, "\(error)")
        }
    }

    private static func entries(of file: ZipFile) -> [ZipFile.Entry] {
        file.entries.filter { $0.name.hasSuffix(".json") }
    }

    private func read(
        _ reader: ZipEntryReader, _ name: String, into work: inout Work, _ writing: inout StepwiseWriting,
        _ isTrial: Bool
    ) async throws {
        var lines = LineCutter(maximum: ExportedLine.maximumBytes)
        work.begin(name)
        while let piece = try reader.next() {
            for line in lines.cut(piece) { work.take(line) }
            work.advance(by: piece.count)
            if work.held >= Self.held { try await store(&work, &writing, isTrial) }
        }
        if let last = lines.finish() { work.take(last) }
        try await store(&work, &writing, isTrial)
    }

    private func store(
        _ work: inout Work, _ writing: inout StepwiseWriting, _ isTrial: Bool
    ) async throws(TrackStoreError) {
        var waiting = work.flush()
        for (entity, points) in waiting {
            guard let problem = try await store.problem(withName: entity.text, in: service) else { continue }
            waiting[entity] = nil
            work.refuse(points, of: entity, problem)
        }
        guard !isTrial else { return waiting.forEach { work.tally($0.value, of: $0.key) } }
        let now = SystemClock.now()
        var batches: [IngestBatch] = []
        for (entity, points) in waiting {
            for start in stride(from: 0, to: points.count, by: Self.batch) {
                batches.append(
                    IngestBatch(
                        service: service, entity: entity.text, position: nil,
                        points: Array(points[start..<min(points.count, start + Self.batch)]), sequences: [],
                        payload: nil, received: now))
            }
        }
        for start in stride(from: 0, to: batches.count, by: Self.batchesAtOnce) {
            let some = Array(batches[start..<min(batches.count, start + Self.batchesAtOnce)])
            let outcomes = try await writing.step { () async throws(TrackStoreError) in await store.ingest(some) }
            var failure: TrackStoreError?
            for (batch, outcome) in zip(some, outcomes) {
                if case .failed(let error) = outcome { failure = failure ?? error } else { work.stored(batch) }
            }
            if let failure { throw failure }
        }
    }

    /// What has been read, and what of it waits to be stored.
    private struct Work {
        private let columns: [ColumnRecord]
        private let now: Timestamp
        private var name = ""
        private var line = 0
        private var waiting: [ExactName: [TrackPoint]] = [:]
        private var entities: Set<ExactName> = []
        private var storedPoints = 0
        private var storedEntities: Set<ExactName> = []
        private var times: [ExactName: TimeTally] = [:]
        private var room = 1 << 22
        private var unknown: Set<String> = []
        private var counts = Outcome()
        private(set) var held = 0
        var total: UInt64 = 0
        private var done: UInt64 = 0
        var onProgress: ((Progress) -> Void)?

        init(columns: [ColumnRecord], now: Timestamp) { (self.columns, self.now) = (columns, now) }

        mutating func advance(by bytes: Int) {
            done += UInt64(bytes)
            onProgress?(Progress(bytes: done, of: max(total, done), points: counts.points))
        }

        mutating func begin(_ file: String) { (name, line) = (file, 0) }

        mutating func take(_ bytes: [UInt8]) {
            line += 1
            guard bytes.contains(where: { $0 > 0x20 }) else { return }
            do throws(ExportedLine.Failure) {
                let read = try ExportedLine(bytes, columns: columns, now: now)
                entities.insert(ExactName(read.entity))
                waiting[ExactName(read.entity), default: []].append(read.point)
                // Names from outside: no more than a person reads.
                if unknown.count < 1000 { unknown.formUnion(read.unknown) }
                held += 1
                counts.points += 1
                if read.hasImpossibleHeight { counts.impossibleHeights += 1 }
            } catch {
                counts.refused += 1
                if counts.refusals.count < TrackImport.mostRefusals {
                    counts.refusals.append("\(name), line \(line): \(error.description)")
                }
            }
        }

        /// Points that were taken, of an entity that cannot be made.
        mutating func refuse(_ points: [TrackPoint], of entity: ExactName, _ problem: String) {
            entities.remove(entity)
            counts.points -= points.count
            counts.refused += points.count
            guard counts.refusals.count < TrackImport.mostRefusals else { return }
            counts.refusals.append("\(name): \(points.count) points of one entity: \(problem)")
        }

        /// What waits; nothing waits then.
        mutating func flush() -> [ExactName: [TrackPoint]] {
            defer { (waiting, held) = ([:], 0) }
            return waiting
        }

        mutating func stored(_ batch: IngestBatch) {
            storedPoints += batch.points.count
            storedEntities.insert(ExactName(batch.entity))
            tally(batch.points, of: ExactName(batch.entity))
        }

        /// Points that are stored, or could be.
        mutating func tally(_ points: [TrackPoint], of entity: ExactName) {
            for point in points { times[entity, default: TimeTally()].add(point.fix.time.milliseconds, room: &room) }
        }

        func outcome(isTrial: Bool) -> Outcome {
            var outcome = counts
            // Points that were read and could not be stored are none of the outcome.
            outcome.replaced = times.values.reduce(0) { $0 + $1.repeated }
            outcome.isExact = times.values.allSatisfy(\.isExact)
            outcome.points = (isTrial ? counts.points : storedPoints) - outcome.replaced
            outcome.entities = isTrial ? entities.count : storedEntities.count
            outcome.withoutColumn = unknown.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            return outcome
        }
    }
}

// A service that its clients know from elsewhere.
extension ServiceAdministration {
    /// Bytes of a key that was made elsewhere. The store keeps an unsalted hash, so the key must not be easy to guess.
    private static let keyBytes = 16...128

    /// Makes the service with its number, unless it is there, and adds its key, so that clients go on with what they have.
    /// `name` nil: the service must be there. Returns whether the service was made.
    package func importKey(
        _ key: Secret, secret: Secret?, of service: Int64, named name: String?, rights: KeyRights
    ) async throws(ServerError) -> (isNew: Bool, number: String) {
        guard let id = ServiceID(rawValue: service) else {
            throw ServerError(.usage, "a service has a number from 1 to 2147483647, not \(service)")
        }
        try Self.check(key, "the access key")
        if let secret { try Self.check(secret, "the signing key") }
        let hash = AccessKey(key.revealed).hash
        do throws(TrackStoreError) {
            let isKnown = try await store.services().contains { $0.id == id }
            if !isKnown {
                guard let name else {
                    throw TrackStoreError(.unknownService, "there is no service \(service): give --name to make it")
                }
                _ = try await store.createService(
                    named: try checkedName(name), numbered: id, at: SystemClock.now())
            }
            try await store.addKey(
                KeyGrant(hash, secret: secret?.revealed, rights: rights), to: id, replacing: false,
                at: SystemClock.now())
            acts.note(.serviceImport, in: id, about: hash.number)
            return (!isKnown, hash.number)
        } catch {
            throw ServerError(error)
        }
    }

    private func checkedName(_ name: String) throws(TrackStoreError) -> String {
        do throws(ServerError) {
            return try Self.checked(name)
        } catch {
            throw TrackStoreError(.failed, error.detail)
        }
    }

    private static func check(_ key: Secret, _ what: String) throws(ServerError) {
        let bytes = key.revealed.utf8
        guard keyBytes.contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ServerError(
                .usage,
                "\(what) has \(keyBytes.lowerBound) to \(keyBytes.upperBound) visible ASCII characters, this one has "
                    + "\(bytes.count) bytes")
        }
    }
}
