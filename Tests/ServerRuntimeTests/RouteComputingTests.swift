import Logging
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import ServerRuntime

/// The worker of jobs for frequent routes.
@Suite struct RouteComputingTests {
    private let store: any TrackStore = TestStore()
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

    /// Its own points may be damaged: the store answers everyone else.
    @Test func aJobThatAlwaysFailsKeepsNoOtherOneWaitingAndIsRefusedInTheEnd() async throws {
        let service = try await jobs(3)
        let clock = Mutex<Int64>(0)
        let tries = Mutex(0)
        let lines = RecordedLines()
        let worker = RouteComputing(
            store: store, logger: lines.logger,
            now: { [time] in
                time.adding(
                    milliseconds: clock.withLock { past in
                        past += 1
                        return past
                    })
            }
        ) { job, _ in
            guard job.order.minutes == 1 else { return .routes([UInt8(job.order.minutes)]) }
            tries.withLock { $0 += 1 }
            throw TrackStoreError(.corrupt, "made up")
        }
        #expect(await !worker.step())
        #expect(try await store.routeJob(order(1), in: service)?.state == .waiting)
        // The others come first now.
        _ = await worker.step()
        for minutes in [2, 3] as [Int64] {
            #expect(try await store.routeJob(order(minutes), in: service)?.result == .routes([UInt8(minutes)]))
        }
        var steps = 2
        while await !worker.step(), steps < 20 { steps += 1 }
        let job = try await store.routeJob(order(1), in: service)
        guard case .refused(let status, let reason)? = job?.result else {
            Issue.record("\(String(describing: job)) after \(steps) steps")
            return
        }
        #expect(status == 1 && reason.contains("failed 5 times") && reason.contains("createjob"), "\(reason)")
        #expect(tries.withLock { $0 } == 5)
        #expect(lines.all.allSatisfy { $0.metadata["reason"]?.contains("made up") ?? true }, "\(lines.all)")
        #expect(lines.all.contains { $0.metadata["job"] == "\(job?.number ?? 0)" }, "\(lines.all)")
        // Whoever makes it again has it tried again.
        let later = time.adding(milliseconds: 1_000_000)
        _ = try await store.addRouteJob(order(1), in: service, at: later, renewing: later)
        #expect(await !worker.step())
        #expect(try await store.routeJob(order(1), in: service)?.state == .waiting)
    }

    /// A job that cannot be given back either is told by what happened first.
    @Test func theFirstReasonIsTold() async throws {
        _ = try await jobs(1)
        let (store, lines) = (store, RecordedLines())
        let worker = RouteComputing(store: store, logger: lines.logger, now: { [time] in time }) { _, _ in
            try await store.close()
            throw TrackStoreError(.corrupt, "made up")
        }
        #expect(await !worker.step())
        #expect(lines.all.contains { $0.metadata["reason"]?.contains("made up") == true }, "\(lines.all)")
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
