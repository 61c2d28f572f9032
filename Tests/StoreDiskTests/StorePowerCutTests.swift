import Foundation
import StoreDisk
import StoreRecords
import Testing
import TrackModel
import TrackStore
import TrackStoreSQLite
import TrackTestKit

/// The server's store with the settings that a server has, on a disk that loses power in the middle of anything: what was
/// answered is there after the cut, what was under way is there wholly or not at all, and what is sent again is not doubled.
@Suite final class StorePowerCutTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// One vehicle of one service, and what the store has said to it.
    private struct Vehicle {
        let entity: String
        let stream: StreamID
        var claim: StreamClaim?
        /// The last sequence that was answered, and the last that was sent.
        var answered: UInt64 = 0
        var sent: UInt64 = 0

        func batch(through last: UInt64, of service: ServiceID) throws -> IngestBatch {
            let sequences = Array((answered + 1)...last)
            let claim = try #require(claim)
            return IngestBatch(
                service: service, entity: entity,
                position: StreamPosition(
                    stream: stream, epoch: claim.epoch, previous: answered, first: answered + 1,
                    count: UInt32(sequences.count)),
                points: try sequences.map { TrackPoint(try Self.fix($0)) }, sequences: sequences, payload: nil,
                received: Timestamp(seconds: 1_800_000_000 + Int64(last)),
                pushes: sequences.filter { $0 % 5 == 0 }.map { sequence in
                    CausedPush(
                        by: sequence,
                        NewPush(type: 3, body: "{\"n\":\(sequence)}", targets: .entities([entity])))
                })
        }

        private static func fix(_ sequence: UInt64) throws -> Fix {
            let place = try #require(Coordinate(latitudeE7: Int32(sequence), longitudeE7: 7))
            return Fix(
                time: Timestamp(seconds: 1_800_000_000 + Int64(sequence)), coordinate: place, mode: .threeDimensional)
        }
    }

    /// What was said of pushes, by entity and body.
    private struct Deliveries {
        var noted: Set<String> = []
        var tried: Set<String> = []
    }

    /// Some lives of one server on one disk after the other.
    private func history(_ seed: UInt64) async throws -> (cuts: Int, underWay: Int) {
        var dice = DiskDice(seed: seed)
        var vehicles = ["van", "bus"].map { Vehicle(entity: $0, stream: StreamID.random(using: &dice)) }
        var delivered = Deliveries()
        var service: ServiceID?
        var underWay = 0
        var directory = try makeDirectory("\(seed)-0")
        let cuts = 5
        for life in 0...cuts {
            let disk = StoreDisk(directory: directory)
            defer { disk.forget() }
            let isLast = life == cuts
            let store = try await SQLiteTrackStore(
                path: "\(directory)/store.sqlite", options: SQLiteTrackStoreOptions(readers: 1, makesMissing: life == 0)
            )
            if let service { try await check(store, service, &vehicles, delivered, &underWay, life) }
            let own =
                if let service { service } else {
                    try await store.createService(named: "fleet", at: Timestamp(seconds: 0)).id
                }
            service = own
            if !isLast { disk.failPower(afterCalls: Int.random(in: 0...150, using: &dice)) }
            for _ in 0..<40 where disk.hasPower {
                await act(store, own, &vehicles, &delivered, &dice)
            }
            // What `saker-server` does when it ends; the power may go meanwhile.
            if dice.one(in: 3) { try? store.close() }
            guard !isLast else {
                try? store.close()
                break
            }
            directory = try makeDirectory("\(seed)-\(life + 1)")
            try disk.leave(in: directory, seed: dice.next())
            try? store.close()
        }
        return (cuts, underWay)
    }

    private func makeDirectory(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true)
        return "\(root)/\(name)"
    }

    /// One call of the store; an error is no answer.
    private func act(
        _ store: SQLiteTrackStore, _ service: ServiceID, _ vehicles: inout [Vehicle], _ delivered: inout Deliveries,
        _ dice: inout DiskDice
    ) async {
        let index = Int.random(in: 0..<vehicles.count, using: &dice)
        let now = Timestamp(seconds: 1_800_000_000)
        switch Int.random(in: 0..<10, using: &dice) {
        case 0: _ = try? await store.mergeChunks(limit: 64, at: now)
        case 1:
            let entity = vehicles[index].entity
            guard
                let pushes = try? await store.pendingPushes(of: entity, in: service, after: nil, at: now, limit: 3)
                    .pushes
            else { return }
            let settlements = pushes.map { PushSettlement(id: $0.id, outcome: .acknowledged, time: now) }
            for push in pushes { delivered.tried.insert(entity + push.body) }
            guard (try? await store.settlePushes(settlements)) != nil else { return }
            for push in pushes { delivered.noted.insert(entity + push.body) }
        default:
            if vehicles[index].claim == nil {
                vehicles[index].claim = try? await store.openStream(
                    vehicles[index].stream, of: vehicles[index].entity, in: service, at: now)
            }
            guard vehicles[index].claim != nil else { return }
            let last = vehicles[index].answered + UInt64.random(in: 1...200, using: &dice)
            guard let batch = try? vehicles[index].batch(through: last, of: service) else { return }
            vehicles[index].sent = last
            if case .stored(let through, _)? = await store.ingest([batch]).first { vehicles[index].answered = through }
        }
    }

    /// After a start: what was answered is there.
    private func check(
        _ store: SQLiteTrackStore, _ service: ServiceID, _ vehicles: inout [Vehicle], _ delivered: Deliveries,
        _ underWay: inout Int, _ life: Int
    ) async throws {
        #expect(try await store.checkIntegrity() == [], "life \(life)")
        let now = Timestamp(seconds: 1_800_000_001)
        var total = 0
        for index in vehicles.indices {
            let vehicle = vehicles[index]
            let former = vehicle.claim
            let claim = try await store.openStream(vehicle.stream, of: vehicle.entity, in: service, at: now)
            #expect(claim.epoch > former?.epoch ?? 0)
            let stored = claim.storedThrough
            #expect(stored == vehicle.answered || stored == vehicle.sent, "life \(life)")
            if stored > vehicle.answered { underWay += 1 }
            let points = try await store.points(
                of: vehicle.entity, in: service, from: Timestamp(milliseconds: .min),
                through: Timestamp(milliseconds: .max), limit: 1_000_000)
            #expect(
                points.map { UInt64($0.point.fix.coordinate.latitudeE7) }
                    == Array((1...max(stored, 1)).prefix(Int(stored))))
            total += points.count
            let waiting = try await store.pendingPushes(
                of: vehicle.entity, in: service, after: nil, at: now, limit: 100_000
            ).pushes.map(\.body)
            let due = (1...max(stored, 1)).filter { $0 <= stored && $0 % 5 == 0 }.map { "{\"n\":\($0)}" }
            #expect(Set(waiting).count == waiting.count)
            #expect(Set(waiting).isDisjoint(with: due.filter { delivered.noted.contains(vehicle.entity + $0) }))
            #expect(Set(waiting).isSubset(of: due))
            #expect(Set(waiting).isSuperset(of: due.filter { !delivered.tried.contains(vehicle.entity + $0) }))
            (vehicles[index].claim, vehicles[index].answered, vehicles[index].sent) = (claim, stored, stored)
        }
        #expect(try await store.counts().points == total)
    }

    @Test(arguments: UInt64(1)...4)
    func whatWasAnsweredIsThereAfterACut(part: UInt64) async throws {
        let first = UInt64.random(in: 1..<1 << 40)
        print("power cuts of the store: seeds \(first) to \(first + 2)")
        for seed in first..<first + 3 {
            let (cuts, _) = try await history(seed)
            #expect(cuts == 5)
        }
        for seed in part * 3..<part * 3 + 3 { _ = try await history(seed) }
    }

    @Test func someCutsFallBetweenCommitAndAnswer() async throws {
        var underWay = 0
        for seed in UInt64(100)..<200 where underWay == 0 { underWay += try await history(seed).underWay }
        #expect(underWay > 0)
    }
}
