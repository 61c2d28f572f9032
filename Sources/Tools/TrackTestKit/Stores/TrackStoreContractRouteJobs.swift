import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``RouteJobStore``
    package static var routeJobs: [TrackStoreCheck] {
        [
            TrackStoreCheck("a job for frequent routes waits, runs, is done, is kept for a while and is gone") {
                subject in
                let (store, service) = try await subject.withFleet()
                try expect(
                    try await store.claimRouteJob(by: 7, at: .at(1), through: .at(60)), is: nil, "a job at first")
                try expect(try await store.routeJob(.sample(), in: service), is: nil, "the job at first")
                let made = try await store.addRouteJob(.sample(), in: service, at: .at(10), renewing: .at(0))
                try expect(made.state, is: .waiting, "the new job's state")
                try expect(made.order, is: .sample(), "the new job's order")
                try expect(try await store.routeJob(.sample(), in: service), is: made, "the job by its order")
                let claimed = try await store.claimRouteJob(by: 7, at: .at(20), through: .at(80))
                try expect(claimed?.number, is: made.number, "the claimed job")
                try expect(claimed?.order, is: .sample(), "the claimed job's order")
                try expect(claimed?.state, is: .running, "the claimed job's state")
                try expect(claimed?.modified, is: .at(20), "when it began to run")
                try expect(
                    try await store.settleRouteJob(made.number, by: 7, .routes([1, 2, 0]), at: .at(90)), is: true,
                    "that it is settled")
                try expect(
                    try await store.claimRouteJob(by: 7, at: .at(91), through: .at(99)), is: nil, "a job to do")
                let done = try await store.routeJob(.sample(), in: service)
                try expect(done?.state, is: .done, "the state in the end")
                try expect(done?.result, is: .routes([1, 2, 0]), "the result")
                try expect(done?.modified, is: .at(90), "when it was done")
                try expect(try await store.removeRouteJobs(doneBefore: .at(90)), is: 0, "removed too early")
                try expect(try await store.removeRouteJobs(doneBefore: .at(91)), is: 1, "removed in the end")
                let next = try await store.addRouteJob(.sample(), in: service, at: .at(100), renewing: .at(0))
                try expect(next.number > made.number, is: true, "that numbers are not used again")
            },
            TrackStoreCheck("the same order is the same job, and is done anew when it is old") { subject in
                let (store, service) = try await subject.withFleet()
                func add(_ order: RouteJobOrder, _ now: Int64, renewing: Int64 = 0) async throws -> RouteJobRecord {
                    try await store.addRouteJob(order, in: service, at: .at(now), renewing: .at(renewing))
                }
                let first = try await add(.sample(), 1)
                try expect(try await add(.sample(), 2, renewing: 2), is: first, "the same order while it waits")
                _ = try await store.claimRouteJob(by: 7, at: .at(3), through: .at(60))
                try expect(try await add(.sample(), 4, renewing: 4).state, is: .running, "the same order while it runs")
                let refused = RouteJobResult.refused(status: 9001, reason: "too many points")
                _ = try await store.settleRouteJob(first.number, by: 7, refused, at: .at(5))
                try expect(
                    try await add(.sample(), 6, renewing: 5).result, is: refused, "the same order when it is done")
                let again = try await add(.sample(), 7, renewing: 6)
                try expect(again.number, is: first.number, "the number of a job that is done anew")
                try expect(again.state, is: .waiting, "the state of a job that is done anew")
                try expect(again.result, is: nil, "the result of a job that is done anew")
                var others: [RouteJobOrder] = [.sample("bus")]
                others += (0..<4).map { index in
                    var other = RouteJobOrder.sample()
                    switch index {
                    case 0: other.from = .at(1)
                    case 1: other.through = .at(86_401)
                    case 2: other.minutes = 61
                    default: other.processing = "straight"
                    }
                    return other
                }
                var numbers = [first.number]
                for other in others {
                    let job = try await add(other, 8)
                    try expect(numbers.contains(job.number), is: false, "another order's number")
                    try expect(try await store.routeJob(other, in: service), is: job, "another order's job")
                    numbers.append(job.number)
                }
            },
            TrackStoreCheck("the oldest job comes first, and one worker at a time has it") { subject in
                let (store, service) = try await subject.withFleet()
                let first = try await store.addRouteJob(.sample(), in: service, at: .at(1), renewing: .at(0))
                let second = try await store.addRouteJob(.sample("bus"), in: service, at: .at(2), renewing: .at(0))
                func claim(_ worker: Int64, _ now: Int64, _ end: Int64) async throws -> Int64? {
                    try await store.claimRouteJob(by: worker, at: .at(now), through: .at(end))?.number
                }
                try expect(try await claim(7, 10, 70), is: first.number, "the first claim")
                try expect(try await claim(8, 10, 70), is: second.number, "another worker's claim")
                try expect(try await claim(9, 10, 70), is: nil, "a third worker's claim")
                try expect(
                    try await store.keepRouteJob(second.number, by: 8, through: .at(200)), is: true, "that it is kept")
                try expect(
                    try await store.keepRouteJob(second.number, by: 7, through: .at(200)), is: false, "kept by another")
                try expect(try await claim(9, 100, 300), is: first.number, "the claim of a worker that is gone")
                try expect(
                    try await store.settleRouteJob(first.number, by: 7, .routes([1]), at: .at(101)), is: false,
                    "that a lost claim settles")
                try expect(
                    try await store.settleRouteJob(first.number, by: 9, nil, at: .at(110)), is: true,
                    "that it waits again")
                try expect(try await claim(10, 111, 300), is: first.number, "the claim on what waits again")
            },
            TrackStoreCheck("a job that was tried comes after those that wait for longer") { subject in
                let (store, service) = try await subject.withFleet()
                let first = try await store.addRouteJob(.sample(), in: service, at: .at(1), renewing: .at(0))
                let second = try await store.addRouteJob(.sample("bus"), in: service, at: .at(2), renewing: .at(0))
                func claim(_ now: Int64) async throws -> RouteJobRecord? {
                    try await store.claimRouteJob(by: 7, at: .at(now), through: .at(now + 5))
                }
                // It fails, and is given back.
                try expect(try await claim(10)?.number, is: first.number, "the first claim")
                _ = try await store.settleRouteJob(first.number, by: 7, nil, at: .at(11))
                try expect(try await claim(12)?.number, is: second.number, "the claim after a job that failed")
                // It ends its worker, which comes back with another number.
                let next = try await store.claimRouteJob(by: 8, at: .at(20), through: .at(25))
                try expect(next?.number, is: first.number, "the claim after a job that ended its worker")
                try expect(next?.modified, is: .at(20), "when it was claimed")
                let again = try await store.claimRouteJob(by: 9, at: .at(30), through: .at(35))
                try expect(again?.number, is: second.number, "the claim after both")
                try expect(again?.modified, is: .at(30), "when it was claimed again")
                try expect(again?.state, is: .running, "its state")
            },
            TrackStoreCheck("jobs of services take turns, and the oldest of a service comes first") { subject in
                let (store, busy) = try await subject.withFleet()
                let other = try await store.createService(named: "other", at: .at(0)).id
                try await store.addEntity(NewEntity(name: "van"), in: other, at: .at(0))
                func add(_ service: ServiceID, _ minutes: Int64, _ time: Int64) async throws -> Int64 {
                    var order = RouteJobOrder.sample()
                    order.minutes = minutes
                    return try await store.addRouteJob(order, in: service, at: .at(time), renewing: .at(time)).number
                }
                var numbers: [Int64] = []
                for index in Int64(1)...4 { numbers.append(try await add(busy, index, index)) }
                for index in Int64(1)...2 { numbers.append(try await add(other, index, 5 + index)) }
                // One fails, and comes after the others of its service.
                var turns: [Int64] = []
                for time in stride(from: Int64(10), to: 50, by: 10) {
                    let job = try await store.claimRouteJob(by: 7, at: .at(time), through: .at(time + 60))
                    turns.append(job?.number ?? 0)
                    let result: RouteJobResult? = job?.number == numbers[0] ? nil : .routes([1])
                    _ = try await store.settleRouteJob(job?.number ?? 0, by: 7, result, at: .at(time + 5))
                }
                try expect(turns, is: [0, 4, 1, 5].map { numbers[$0] }, "whose turn it was")
                // What is asked for anew waits from then on.
                let renewed = try await add(other, 1, 46)
                try expect(renewed, is: numbers[4], "the job that is asked for anew")
                for (worker, number) in [(Int64(8), numbers[2]), (9, renewed), (10, numbers[3]), (11, numbers[0])] {
                    let job = try await store.claimRouteJob(by: worker, at: .at(50 + worker), through: .at(900))
                    try expect(job?.number, is: number, "the turn in the end")
                }
            },
            TrackStoreCheck("jobs for frequent routes go with their entity, and with their service") { subject in
                let (store, service) = try await subject.withFleet()
                try await expect(.unknownEntity) {
                    _ = try await store.addRouteJob(.sample("nobody"), in: service, at: .at(1), renewing: .at(0))
                }
                if let missing = ServiceID(rawValue: service.rawValue + 1) {
                    try await expect(.unknownService) {
                        _ = try await store.addRouteJob(.sample(), in: missing, at: .at(1), renewing: .at(0))
                    }
                    try await expect(.unknownService) { _ = try await store.routeJob(.sample(), in: missing) }
                }
                let job = try await store.addRouteJob(.sample(), in: service, at: .at(1), renewing: .at(0))
                _ = try await store.addRouteJob(.sample("bus"), in: service, at: .at(1), renewing: .at(0))
                _ = try await store.claimRouteJob(by: 7, at: .at(2), through: .at(60))
                try await store.deleteEntity(named: "van", in: service, at: .at(3))
                try expect(try await store.routeJob(.sample(), in: service), is: nil, "the job of a deleted entity")
                try expect(
                    try await store.settleRouteJob(job.number, by: 7, .routes([1]), at: .at(4)), is: false,
                    "that it is settled")
                try await store.addEntity(NewEntity(name: "van"), in: service, at: .at(5))
                try expect(try await store.routeJob(.sample(), in: service), is: nil, "the job of a new entity")
                try await store.deleteService(service)
                while try await store.removeDeletedServices(limit: 100) > 0 {}
                try expect(
                    try await store.claimRouteJob(by: 8, at: .at(99), through: .at(100)), is: nil,
                    "a job of a deleted service")
            },
            TrackStoreCheck("a service has so many jobs for frequent routes, and no more") { subject in
                let (store, service) = try await subject.withFleet()
                func add(_ minutes: Int64, at second: Int64) async throws -> RouteJobRecord {
                    var order = RouteJobOrder.sample()
                    order.minutes = minutes
                    return try await store.addRouteJob(order, in: service, at: .at(second), renewing: .at(0))
                }
                func finish(at second: Int64) async throws {
                    let job = try await store.claimRouteJob(by: 7, at: .at(second), through: .at(second + 60))
                    _ = try await store.settleRouteJob(job?.number ?? 0, by: 7, .routes([]), at: .at(second))
                }
                for index in 0..<Int64(RouteJobRules.mostUnfinished) { _ = try await add(1 + index, at: 1) }
                try await expect(.tooManyRouteJobs) { _ = try await add(1000, at: 1) }
                _ = try await add(1, at: 2)
                // One after the other is done: the oldest of them go.
                for index in 0..<Int64(RouteJobRules.mostDone) + 5 {
                    try await finish(at: 10 + index)
                    _ = try await add(100 + index, at: 10 + index)
                }
                var order = RouteJobOrder.sample()
                var kept = 0
                for minutes in Array(1...10) + Array(100..<100 + Int64(RouteJobRules.mostDone) + 5) {
                    order.minutes = minutes
                    if try await store.routeJob(order, in: service)?.state == .done { kept += 1 }
                }
                try expect(kept, is: RouteJobRules.mostDone, "jobs that are done")
                order.minutes = 1
                try expect(try await store.routeJob(order, in: service), is: nil, "the oldest job")
            },
        ]
    }
}

extension RouteJobOrder {
    static func sample(_ entity: String = "van") -> RouteJobOrder {
        RouteJobOrder(
            entity: entity, from: .at(0), through: .at(86_400), minutes: 60, processing: "no_supplement need_denoise=1")
    }
}
