import Testing

@testable import Ingest

@Suite struct IngestQueueTests {
    @Test func jobsLeaveInTheirOrderInBoundedGroups() throws {
        var queue = IngestQueue(capacity: 10_000)
        for index in 1...5 { try add(to: &queue, owner: UInt64(index), cost: 100) }
        let byBatches = try take(from: &queue, batches: 2, bytes: 10_000)
        #expect(byBatches.map(\.ticket) == [1, 2])
        let byBytes = try take(from: &queue, batches: 10, bytes: 250)
        #expect(byBytes.map(\.ticket) == [3, 4])
        let large = try take(from: &queue, batches: 10, bytes: 1)
        #expect(large.map(\.ticket) == [5])
        let nothing = queue.takeGroup(limits(batches: 10, bytes: 10))
        #expect(nothing == nil)
        #expect(queue.reserved == 500)
        _ = queue.settle(byBatches + byBytes + large, failed: [])
        #expect(queue.reserved == 0)
    }

    @Test func whoFindsNoRoomIsToldWhenThereIsSome() throws {
        var queue = IngestQueue(capacity: 1000)
        for owner in 3...11 as ClosedRange<UInt64> { try add(to: &queue, owner: owner, cost: 100) }
        let late = TestOwner(.session(2))
        let tooEarly = queue.reserve(200, for: late)
        #expect(!tooEarly)
        let group = try take(from: &queue, batches: 10, bytes: 10_000)
        let told = queue.settle(group, failed: [])
        #expect(told.map(\.source) == [.session(2)])
        let inTime = queue.reserve(200, for: late)
        #expect(inTime)
        let nobody = queue.cancel(200, of: late.sender)
        #expect(nobody.isEmpty)
        #expect(queue.reserved == 0)
    }

    @Test func oneSenderLeavesRoomForTheOthers() throws {
        var queue = IngestQueue(capacity: 1000)
        let greedy = vehicle("greedy")
        let sessions = (1...3).map { TestOwner(.session($0), sender: greedy) }
        let taken = sessions.map { queue.reserve(125, for: $0) }
        #expect(taken == [true, true, false])
        let other = queue.reserve(125, for: TestOwner(.session(9)))
        #expect(other)
        // Others end what they had; the one who waits for its own share does not hear of that.
        #expect(queue.cancel(125, of: vehicle("\(IngestSource.session(9))")).isEmpty)
        let told = queue.cancel(125, of: greedy)
        #expect(told.map(\.source) == [.session(3)])
        let again = queue.reserve(125, for: sessions[2])
        #expect(again)
        // Something larger than a share passes when its sender has nothing else.
        let large = queue.reserve(500, for: TestOwner(.request(1)))
        let next = queue.reserve(10, for: TestOwner(.request(2), sender: vehicle("\(IngestSource.request(1))")))
        #expect(large && !next)
    }

    @Test func aJobLargerThanAllTheRoomPassesAlone() {
        var queue = IngestQueue(capacity: 10)
        let large = queue.reserve(1000, for: TestOwner(.session(1)))
        let small = queue.reserve(1, for: TestOwner(.session(2)))
        #expect(large)
        #expect(!small)
    }

    @Test func afterAFailureNothingOfItsSessionIsStored() throws {
        var queue = IngestQueue(capacity: 10_000)
        try add(to: &queue, owner: 1, cost: 100)
        let failing = try take(from: &queue, batches: 1, bytes: 1000)
        try add(to: &queue, owner: 1, cost: 100)
        try add(to: &queue, owner: 2, cost: 100)
        _ = queue.settle(failing, failed: [.session(1)])
        #expect(queue.count == 1)
        #expect(queue.reserved == 100)
        // Even one that arrives before the session has heard of the failure.
        try add(to: &queue, owner: 1, cost: 100)
        let rest = try take(from: &queue, batches: 10, bytes: 10_000)
        #expect(rest.map(\.ticket) == [2])
        #expect(queue.reserved == 100)
        queue.forget(.session(1))
        try add(to: &queue, owner: 1, cost: 100)
        #expect(queue.count == 1)
    }

    @Test func aJobThatIsDroppedAtOnceMakesRoomForWhoWaits() throws {
        var queue = IngestQueue(capacity: 100)
        try add(to: &queue, owner: 1, cost: 20)
        let failed = try take(from: &queue, batches: 1, bytes: 1000)
        let late = TestOwner(.session(1))
        for owner in 3...4 as ClosedRange<UInt64> { _ = queue.reserve(25, for: TestOwner(.session(owner))) }
        let (isReserved, isReservedToo) = (queue.reserve(5, for: late), queue.reserve(50, for: TestOwner(.session(2))))
        #expect(isReserved && !isReservedToo)
        // With the others' 50 and the 5 of the late job there is no room to tell anybody of.
        #expect(queue.settle(failed, failed: [.session(1)]).isEmpty)
        let told = queue.add(try job(of: late, ticket: 2, cost: 5))
        #expect(told.map(\.source) == [.session(2)])
        #expect(queue.reserved == 50 && queue.count == 0)
    }

    @Test func whoIsGoneIsToldNothing() throws {
        var queue = IngestQueue(capacity: 100)
        try add(to: &queue, owner: 1, cost: 100)
        let isReserved = queue.reserve(10, for: TestOwner(.session(2)))
        #expect(!isReserved)
        queue.forget(.session(2))
        let group = try take(from: &queue, batches: 10, bytes: 10_000)
        let told = queue.settle(group, failed: [])
        #expect(told.isEmpty)
    }

    @Test func everythingIsSettledThroughTheJobBeforeTheFirstThatIsNot() throws {
        var queue = IngestQueue(capacity: 10_000)
        #expect(queue.settledThrough == 0)
        for owner in [1, 2, 1, 2] as [UInt64] { try add(to: &queue, owner: owner, cost: 100) }
        #expect(queue.settledThrough == 0)
        let first = try take(from: &queue, batches: 1, bytes: 1000)
        #expect(queue.settledThrough == 0)
        // The third job is dropped with the first.
        _ = queue.settle(first, failed: [.session(1)])
        #expect(queue.settledThrough == 1)
        let second = try take(from: &queue, batches: 1, bytes: 1000)
        #expect(queue.settledThrough == 1)
        _ = queue.settle(second, failed: [])
        #expect(queue.settledThrough == 3)
        _ = queue.settle(try take(from: &queue, batches: 9, bytes: 1000), failed: [])
        #expect(queue.settledThrough == 4)
        #expect(queue.added == 4)
    }

    @Test func requestsAreAbandonedAndSessionsKept() throws {
        var queue = IngestQueue(capacity: 10_000)
        try add(to: &queue, owner: 1, cost: 100)
        let request = TestOwner(.request(1))
        let isReserved = queue.reserve(300, for: request)
        #expect(isReserved)
        #expect(queue.add(try job(of: request, ticket: 7, cost: 300)).isEmpty)
        let abandoned = queue.abandonRequests()
        #expect(abandoned.map(\.ticket) == [7])
        #expect(queue.reserved == 100)
        #expect(queue.count == 1)
    }

    private func add(to queue: inout IngestQueue, owner number: UInt64, cost: Int) throws {
        let owner = TestOwner(.session(number))
        let isReserved = queue.reserve(cost, for: owner)
        #expect(isReserved)
        _ = queue.add(try job(of: owner, ticket: number, cost: cost))
    }

    private func job(of owner: TestOwner, ticket: UInt64, cost: Int) throws -> IngestJob {
        IngestJob(owner: owner, ticket: ticket, batch: try batch(of: 0), cost: cost)
    }

    private func take(from queue: inout IngestQueue, batches: Int, bytes: Int) throws -> [IngestJob] {
        let group = queue.takeGroup(limits(batches: batches, bytes: bytes))
        return try #require(group)
    }

    private func limits(batches: Int, bytes: Int) -> IngestLimits {
        var limits = IngestLimits()
        (limits.groupBatches, limits.groupBytes) = (batches, bytes)
        return limits
    }
}
