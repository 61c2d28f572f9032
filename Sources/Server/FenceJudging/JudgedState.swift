package import Geofencing
import TrackModel
package import TrackStore

/// What is remembered of an entity between one batch and the next: the content of `IngestBatch.fences`.
package struct JudgedState: Hashable, Sendable {
    private struct Receipt: Hashable {
        let time: Timestamp
        let received: Timestamp
    }

    package internal(set) var fenceState = EntityFenceState()
    /// When the server received the points that the fence state has.
    private var receipts: [Receipt] = []

    private static let version: UInt8 = 1

    package init() {}

    /// When the server received a point of the fence state; nil when nobody knows.
    func received(_ time: Timestamp) -> Timestamp? {
        receipts.first { $0.time == time }?.received
    }

    /// When the server received the newest point of the fence state; nil when nobody knows.
    var newestReceived: Timestamp? { fenceState.lastTime.flatMap(received) }

    /// The fence state went on with points that the server received at `now`.
    mutating func went(on fenceState: EntityFenceState, at now: Timestamp) {
        let former = self.fenceState.lastTime ?? Timestamp(milliseconds: .min)
        receipts = fenceState.points.compactMap { point in
            let received = point.time > former ? now : self.received(point.time)
            return received.map { Receipt(time: point.time, received: $0) }
        }
        self.fenceState = fenceState
    }

    // MARK: Bytes, see docs/formats/track-store.md

    package var encoded: [UInt8] {
        var bytes: [UInt8] = [Self.version, UInt8(min(receipts.count, 255))]
        for receipt in receipts.prefix(255) {
            Self.append(receipt.time.milliseconds, to: &bytes)
            Self.append(receipt.received.milliseconds, to: &bytes)
        }
        return bytes + fenceState.encoded
    }

    /// - Throws: ``FenceStateCodingError`` for bytes that no version of this program wrote.
    package init(encoded bytes: [UInt8]) throws(FenceStateCodingError) {
        guard bytes.count >= 2, bytes[0] == Self.version else {
            throw FenceStateCodingError(
                description: "a fence state has format \(bytes.first ?? 0), not \(Self.version)")
        }
        let end = 2 + Int(bytes[1]) * 16
        guard bytes.count >= end else {
            throw FenceStateCodingError(description: "a fence state of \(bytes.count) bytes is too short")
        }
        receipts = stride(from: 2, to: end, by: 16).map { start in
            Receipt(time: Self.time(bytes[start..<start + 8]), received: Self.time(bytes[start + 8..<start + 16]))
        }
        fenceState = try EntityFenceState(encoded: Array(bytes[end...]))
    }

    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private static func time(_ bytes: ArraySlice<UInt8>) -> Timestamp {
        Timestamp(milliseconds: bytes.reversed().reduce(0) { $0 << 8 | Int64($1) })
    }
}

/// Where an entity is with regard to its fences, as its alarms told it.
package struct FenceStatuses: Sendable {
    private let state: JudgedState
    private let since: [Int32: Timestamp]
    private let zones: ZoneTable

    /// Reads what is remembered of an entity; of one that does not exist nothing is.
    package init(
        of entity: EntityKey, in store: some FenceStore, zones: @escaping ZoneTable = { _ in nil }
    ) async throws(TrackStoreError) {
        self.zones = zones
        since = try await store.watchTimes(of: entity)
        let bytes = try await store.fenceStates(of: [entity]).first?.fences
        state = bytes.flatMap { try? JudgedState(encoded: $0) } ?? JudgedState()
    }

    /// Nil when the fence does not watch the entity, or cannot be judged because its time zone is not known. Unknown when the
    /// server has received no point since the fence watches the entity, also when the last one is dated later.
    package func place(of record: FenceRecord) -> FencePair.Place? {
        guard let (plan, isKnown) = plan(of: record) else { return nil }
        return isKnown ? state.fenceState.place(of: plan) : .unknown
    }

    /// The same with its time and the distance, which costs more.
    package func status(of record: FenceRecord) -> FenceStatus? {
        guard let (plan, isKnown) = plan(of: record) else { return nil }
        return isKnown ? state.fenceState.status(of: plan) : .unknown
    }

    private func plan(of record: FenceRecord) -> (plan: FencePlan, isKnown: Bool)? {
        guard let time = since[record.fence.id] ?? record.everyoneSince,
            let plan = record.fence.plan(watchedSince: time, zones)
        else { return nil }
        return (plan, state.newestReceived.map { $0 >= time } ?? true)
    }
}
