import Testing
import TrackModel
import TrackStore

@testable import Gateway

@Suite struct IngestQueueTests {
    @Test func jobsLeaveInTheirOrderInBoundedGroups() throws {
        var queue = IngestQueue(capacity: 10_000)
        for index in 1...5 { try add(to: &queue, owner: UInt64(index), cost: 100) }
        let byBatches = try take(from: &queue, batches: 2, bytes: 10_000)
        #expect(byBatches.map(\.owner.number) == [1, 2])
        let byBytes = try take(from: &queue, batches: 10, bytes: 250)
        #expect(byBytes.map(\.owner.number) == [3, 4])
        let large = try take(from: &queue, batches: 10, bytes: 1)
        #expect(large.map(\.owner.number) == [5])
        let nothing = queue.takeGroup(batches: 10, bytes: 10)
        #expect(nothing == nil)
        #expect(queue.reserved == 500)
        _ = queue.settle(byBatches + byBytes + large, failed: [])
        #expect(queue.reserved == 0)
    }

    @Test func whoFindsNoRoomIsToldWhenThereIsSome() throws {
        var queue = IngestQueue(capacity: 1000)
        try add(to: &queue, owner: 1, cost: 900)
        let late = Owner(number: 2)
        let tooEarly = queue.reserve(200, for: late)
        #expect(!tooEarly)
        let group = try take(from: &queue, batches: 10, bytes: 10_000)
        let told = queue.settle(group, failed: [])
        #expect(told.map(\.number) == [2])
        let inTime = queue.reserve(200, for: late)
        #expect(inTime)
        let nobody = queue.cancel(200)
        #expect(nobody.isEmpty)
        #expect(queue.reserved == 0)
    }

    @Test func aJobLargerThanAllTheRoomPassesAlone() {
        var queue = IngestQueue(capacity: 10)
        let large = queue.reserve(1000, for: Owner(number: 1))
        let small = queue.reserve(1, for: Owner(number: 2))
        #expect(large)
        #expect(!small)
    }

    @Test func afterAFailureNothingOfItsSessionIsStored() throws {
        var queue = IngestQueue(capacity: 10_000)
        try add(to: &queue, owner: 1, cost: 100)
        let failing = try take(from: &queue, batches: 1, bytes: 1000)
        try add(to: &queue, owner: 1, cost: 100)
        try add(to: &queue, owner: 2, cost: 100)
        _ = queue.settle(failing, failed: [1])
        #expect(queue.count == 1)
        #expect(queue.reserved == 100)
        // Even one that arrives before the session has heard of the failure.
        try add(to: &queue, owner: 1, cost: 100)
        let rest = try take(from: &queue, batches: 10, bytes: 10_000)
        #expect(rest.map(\.owner.number) == [2])
        #expect(queue.reserved == 100)
        queue.forget(1)
        try add(to: &queue, owner: 1, cost: 100)
        #expect(queue.count == 1)
    }

    @Test func whoIsGoneIsToldNothing() throws {
        var queue = IngestQueue(capacity: 100)
        try add(to: &queue, owner: 1, cost: 100)
        let isReserved = queue.reserve(10, for: Owner(number: 2))
        #expect(!isReserved)
        queue.forget(2)
        let group = try take(from: &queue, batches: 10, bytes: 10_000)
        let told = queue.settle(group, failed: [])
        #expect(told.isEmpty)
    }

    private func add(to queue: inout IngestQueue, owner: UInt64, cost: Int) throws {
        let owner = Owner(number: owner)
        let service = try #require(ServiceID(rawValue: 1))
        let isReserved = queue.reserve(cost, for: owner)
        #expect(isReserved)
        queue.add(
            IngestJob(
                owner: owner, ticket: .upload(refusals: []),
                batch: IngestBatch(
                    service: service, entity: "car", position: nil, points: [], sequences: [], payload: nil,
                    received: Fixture.now),
                payloadBytes: cost, cost: cost))
    }

    private func take(from queue: inout IngestQueue, batches: Int, bytes: Int) throws -> [IngestJob] {
        let group = queue.takeGroup(batches: batches, bytes: bytes)
        return try #require(group)
    }

    private struct Owner: IngestOwner {
        let number: UInt64
        func settle(_ jobs: [SettledJob]) {}
        func spaceIsFree() {}
    }
}
