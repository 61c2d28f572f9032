import Dispatch
import Synchronization
import Testing
import TrackStore

@testable import TrackStoreSQLite

@Suite struct FairSemaphoreTests {
    private static let greedy = WorkOwner.address("192.0.2.1")
    private static let other = WorkOwner.address("192.0.2.2")

    /// Callers that wait, and the order in which they came in.
    private final class Queue: Sendable {
        let semaphore: FairSemaphore
        let entered = Mutex<[String]>([])

        init(_ semaphore: FairSemaphore) { self.semaphore = semaphore }

        /// The caller waits when this returns, or is inside.
        func start(_ name: String, _ owner: WorkOwner?, in group: inout TaskGroup<Void>) {
            group.addImmediateTask { [self] in
                await semaphore.enter(owner)
                entered.withLock { $0.append(name) }
            }
        }

        func expect(_ names: [String]) async {
            while entered.withLock({ $0.count }) < names.count { await Task.yield() }
            #expect(entered.withLock { $0 } == names)
        }
    }

    @Test func whoAsksMuchWaitsBehindWhoAsksLittle() async {
        let queue = Queue(FairSemaphore())
        await withTaskGroup(of: Void.self) { group in
            queue.start("inside", nil, in: &group)
            for number in 1...3 { queue.start("greedy \(number)", Self.greedy, in: &group) }
            queue.start("other", Self.other, in: &group)
            queue.start("server", nil, in: &group)
            await queue.expect(["inside"])
            let order = [(nil, "greedy 1"), (Self.greedy, "other"), (Self.other, "server"), (nil, "greedy 2")]
            var names = ["inside"]
            for (owner, name) in order {
                queue.semaphore.leave(owner)
                names.append(name)
                await queue.expect(names)
            }
            queue.semaphore.leave(Self.greedy)
            await queue.expect(names + ["greedy 3"])
        }
    }

    @Test func anOwnerLeavesRoomForOthers() async {
        let queue = Queue(FairSemaphore(3, ofOwner: 2))
        await withTaskGroup(of: Void.self) { group in
            for number in 1...4 { queue.start("greedy \(number)", Self.greedy, in: &group) }
            await queue.expect(["greedy 1", "greedy 2"])
            queue.start("other", Self.other, in: &group)
            await queue.expect(["greedy 1", "greedy 2", "other"])
            queue.semaphore.leave(Self.other)
            // The room stays free: the owner has its share.
            queue.start("server", nil, in: &group)
            await queue.expect(["greedy 1", "greedy 2", "other", "server"])
            queue.semaphore.leave(Self.greedy)
            queue.semaphore.leave(nil)
            queue.semaphore.leave(Self.greedy)
            let all = ["greedy 1", "greedy 2", "other", "server", "greedy 3", "greedy 4"]
            await queue.expect(all)
        }
    }

    /// The server itself may use every place.
    @Test func theServerHasNoShare() async {
        let queue = Queue(FairSemaphore(3, ofOwner: 1))
        await withTaskGroup(of: Void.self) { group in
            for number in 1...3 { queue.start("\(number)", nil, in: &group) }
            await queue.expect(["1", "2", "3"])
        }
    }
}

@Suite struct ReaderTurnTests {
    /// Holds up whoever reads until it is opened.
    private final class Gate: Sendable {
        private let opened = DispatchSemaphore(value: 0)
        private let readings = Mutex(0)
        private let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)

        var count: Int { readings.withLock { $0 } }

        func pass() {
            readings.withLock { $0 += 1 }
            arrival.yield()
            opened.wait()
            opened.signal()
        }

        func firstArrival() async { for await _ in arrivals { return } }

        func open() { opened.signal() }
    }

    /// One reading of a sender is under way, and more wait. Somebody else reads at once.
    @Test(.timeLimit(.minutes(5))) func aSenderOfManyRequestsHoldsNobodyUp() async throws {
        let bench = try Workbench()
        let store = try await bench.open(nil, SQLiteTrackStoreOptions(synchronous: .normal, readers: 2))
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            WorkOwner.$current.withValue(.address("192.0.2.1")) {
                for _ in 0..<40 { group.addImmediateTask { try await store.reading { _ in gate.pass() } } }
            }
            await gate.firstArrival()
            try await store.reading { _ in }
            try await WorkOwner.$current.withValue(.address("192.0.2.2")) { try await store.reading { _ in } }
            #expect(gate.count == 1)
            gate.open()
            try await group.waitForAll()
        }
        #expect(gate.count == 40)
    }
}
