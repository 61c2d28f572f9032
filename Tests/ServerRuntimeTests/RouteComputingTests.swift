import Logging
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import ServerRuntime

/// The worker of jobs for frequent routes.
@Suite struct RouteComputingTests {
    private let store = ReferenceTrackStore()
    private let time = Timestamp(seconds: 1_772_677_900)

    private func worker(_ compute: @escaping RouteComputing.Compute) -> RouteComputing {
        RouteComputing(
            store: store, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { [time] in time },
            compute: compute)
    }

    private func order(_ minutes: Int64) -> RouteJobOrder {
        RouteJobOrder(
            entity: "van", from: time.adding(milliseconds: -1000), through: time, minutes: minutes,
            processing: "straight")
    }

    private func jobs(_ count: Int64) async throws -> ServiceID {
        let service = try await store.createService(named: "fleet", at: time).id
        try await store.addEntity(NewEntity(name: "van"), in: service, at: time)
        for minutes in 1...count {
            _ = try await store.addRouteJob(order(minutes), in: service, at: time, renewing: time)
        }
        return service
    }

    @Test func everyJobIsDoneInItsOrder() async throws {
        let service = try await jobs(3)
        let worker = worker { job, goesOn in
            try await goesOn() ? .routes([UInt8(job.order.minutes)]) : nil
        }
        #expect(await worker.step())
        for minutes in 1...3 as ClosedRange<Int64> {
            let job = try await store.routeJob(order(minutes), in: service)
            #expect(job?.state == .done && job?.result == .routes([UInt8(minutes)]))
        }
        await worker.clear()
        #expect(try await store.routeJob(order(1), in: service) != nil)
    }

    /// A store that fails may work later: the job waits, and nothing of it is lost.
    @Test func aJobThatFailedWaits() async throws {
        let service = try await jobs(2)
        let failures = Mutex(1)
        let worker = worker { _, _ in
            let fails = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            if fails { throw TrackStoreError(.failed, "made up") }
            return .refused(status: 9001, reason: "too much")
        }
        #expect(await !worker.step())
        #expect(try await store.routeJob(order(1), in: service)?.state == .waiting)
        #expect(await worker.step())
        #expect(try await store.routeJob(order(2), in: service)?.result == .refused(status: 9001, reason: "too much"))
    }

    /// The server ends while routes are computed: the next one need not wait for the claim to end.
    @Test func aJobThatIsStoppedWaits() async throws {
        let service = try await jobs(1)
        let worker = worker { _, goesOn in
            while try await goesOn() { await Task.yield() }
            return nil
        }
        let work = Task { await worker.step() }
        while try await store.routeJob(order(1), in: service)?.state != .running { await Task.yield() }
        work.cancel()
        _ = await work.value
        #expect(try await store.routeJob(order(1), in: service)?.state == .waiting)
        #expect(try await store.claimRouteJob(by: 9, at: time, through: time) != nil)
    }

    @Test func aJobThatWentIsNoTrouble() async throws {
        let service = try await jobs(1)
        let (store, time) = (store, time)
        let worker = worker { _, _ in
            try await store.deleteEntity(named: "van", in: service, at: time)
            return .routes([])
        }
        #expect(await worker.step())
    }
}
