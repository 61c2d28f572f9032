import Synchronization
import Testing
import TrackModel
import TrackStore
import WebAPI

@testable import ServerRuntime

@Suite(.timeLimit(.minutes(2))) struct WorkThreadsTests {
    private final class Order: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func note(_ name: String) { names.withLock { $0.append(name) } }
    }

    /// One key has a hundred pieces of work, and another one that comes behind them has one: it is done before most of them.
    @Test func aKeyWithMuchToDoHoldsUpNoOther() async throws {
        let threads = WorkThreads(1)
        let order = Order()
        let much = threads.executor(for: .address("192.0.2.1"))
        let little = threads.executor(for: .address("192.0.2.2"))
        // The one thread is here while all of them are given to it.
        await Task(executorPreference: much) {
            await withTaskGroup(of: Void.self) { group in
                for piece in 0..<100 { group.addTask(executorPreference: much) { order.note("much \(piece)") } }
                group.addTask(executorPreference: little) { order.note("little") }
            }
        }.value
        #expect(order.all.count == 101)
        let place = try #require(order.all.firstIndex(of: "little"))
        #expect(place <= 1, "\(place)")
        try await threads.stop()
    }
}
