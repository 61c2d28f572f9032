import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``ExportStore``
    package static var exports: [TrackStoreCheck] {
        [
            TrackStoreCheck("an export waits, runs, is done, is kept for a while and is gone") { subject in
                let (store, service) = try await subject.withService()
                try expect(try await store.claimExport(by: 7, at: .at(1), through: .at(60)), is: nil, "a job at first")
                let made = try await store.addExport(.sample, token: "a", in: service, at: .at(10))
                try expect(made.state, is: .waiting, "the new job's state")
                try expect(made.order, is: .sample, "the new job's order")
                try expect(try await store.exports(in: service, doneSince: .at(0)), is: [made], "the jobs")
                try expect(try await store.export(token: "a"), is: made, "the job by its token")
                try expect(try await store.export(token: "b"), is: nil, "a job by another token")
                let claimed = try await store.claimExport(by: 7, at: .at(20), through: .at(80))
                try expect(claimed?.number, is: made.number, "the claimed job")
                try expect(claimed?.state, is: .running, "the claimed job's state")
                try expect(claimed?.modified, is: .at(20), "when it began to run")
                let result = ExportResult(points: 3, bytes: 400)
                try expect(
                    try await store.settleExport(made.number, by: 7, result, at: .at(90)), is: true,
                    "that it is settled")
                try expect(try await store.claimExport(by: 7, at: .at(91), through: .at(99)), is: nil, "a job to do")
                let done = try await store.exports(in: service, doneSince: .at(90))
                try expect(done.map(\.state), is: [.done], "the state in the end")
                try expect(done.map(\.result), is: [result], "the result")
                try expect(done.map(\.modified), is: [.at(90)], "when it was done")
                try expect(try await store.exportCounts(), is: [.done: 1], "jobs by state")
                try expect(
                    try await store.exportUses(), is: [service: ExportUse(files: 1, bytes: 400)], "what they take")
                try expect(try await store.exports(in: service, doneSince: .at(91)), is: [], "jobs done later")
                try expect(try await store.removeExports(doneBefore: .at(90)), is: 0, "removed too early")
                try expect(try await store.exportTokens(), is: ["a"], "tokens")
                try expect(try await store.removeExports(doneBefore: .at(91)), is: 1, "removed in the end")
                try expect(try await store.exportTokens(), is: [], "tokens in the end")
                let next = try await store.addExport(.sample, token: "c", in: service, at: .at(100))
                try expect(next.number > made.number, is: true, "that numbers are not used again")
            },
            TrackStoreCheck("the oldest export comes first, and one worker at a time has it") { subject in
                let (store, service) = try await subject.withService()
                let first = try await store.addExport(.sample, token: "a", in: service, at: .at(1))
                let second = try await store.addExport(.sample, token: "b", in: service, at: .at(2))
                func claim(_ worker: Int64, _ now: Int64, _ end: Int64) async throws -> Int64? {
                    try await store.claimExport(by: worker, at: .at(now), through: .at(end))?.number
                }
                try expect(try await claim(7, 10, 70), is: first.number, "the first claim")
                try expect(try await claim(8, 10, 70), is: second.number, "another worker's claim")
                try expect(try await claim(9, 10, 70), is: nil, "a third worker's claim")
                try expect(try await claim(7, 20, 90), is: first.number, "the first worker's claim again")
                try expect(
                    try await store.keepExport(second.number, by: 8, through: .at(200)), is: true, "that it is kept")
                try expect(
                    try await store.keepExport(second.number, by: 7, through: .at(200)), is: false, "kept by another")
                try expect(try await claim(9, 100, 300), is: first.number, "the claim of a worker that is gone")
                let late = try await store.settleExport(
                    first.number, by: 7, ExportResult(points: 1, bytes: 1), at: .at(101))
                try expect(late, is: false, "that a lost claim settles")
                try expect(
                    try await store.settleExport(first.number, by: 9, nil, at: .at(110)), is: true,
                    "that it waits again")
                try expect(
                    try await store.exports(in: service, doneSince: .at(0)).map(\.state), is: [.waiting, .running],
                    "the states")
                try expect(try await claim(10, 111, 300), is: first.number, "the claim on what waits again")
            },
            TrackStoreCheck("an export that was tried comes after those that wait for longer") { subject in
                let (store, service) = try await subject.withService()
                let first = try await store.addExport(.sample, token: "a", in: service, at: .at(1))
                let second = try await store.addExport(.sample, token: "b", in: service, at: .at(2))
                // It fails, and is given back.
                let failed = try await store.claimExport(by: 7, at: .at(10), through: .at(15))
                try expect(failed?.number, is: first.number, "the first claim")
                _ = try await store.settleExport(first.number, by: 7, nil, at: .at(11))
                // It ends its worker, which comes back with another number.
                let other = try await store.claimExport(by: 7, at: .at(12), through: .at(15))
                try expect(other?.number, is: second.number, "the claim after an export that failed")
                let next = try await store.claimExport(by: 8, at: .at(20), through: .at(25))
                try expect(next?.number, is: first.number, "the claim after an export that ended its worker")
                let again = try await store.claimExport(by: 9, at: .at(30), through: .at(35))
                try expect(again?.number, is: second.number, "the claim after both")
                try expect(again?.modified, is: .at(30), "when it was claimed again")
            },
            TrackStoreCheck("exports of services take turns, and the oldest of a service comes first") { subject in
                let (store, busy) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(0)).id
                let late = try await store.createService(named: "late", at: .at(0)).id
                func add(_ service: ServiceID, _ token: String, _ time: Int64) async throws {
                    _ = try await store.addExport(.sample, token: token, in: service, at: .at(time))
                }
                for index in 0..<Int64(4) { try await add(busy, "b\(index)", 1 + index) }
                for index in 0..<Int64(2) { try await add(other, "o\(index)", 6 + index) }
                // One fails, and comes after the others of its service; one is deleted when it is done.
                var turns: [String] = []
                for time in stride(from: Int64(10), to: 50, by: 10) {
                    let job = try await store.claimExport(by: 7, at: .at(time), through: .at(time + 60))
                    turns.append(job?.token ?? "none")
                    let result = job?.token == "b0" ? nil : ExportResult(points: 1, bytes: 1)
                    _ = try await store.settleExport(job?.number ?? 0, by: 7, result, at: .at(time + 5))
                    if time == 20 { try await add(late, "l", 21) }
                }
                try expect(turns, is: ["b0", "o0", "b1", "l"], "whose turn it was")
                let running = try await store.claimExport(by: 7, at: .at(50), through: .at(900))
                try expect(running?.token, is: "o1", "the turn of a service that waits for longest")
                for (worker, token) in [(Int64(8), "b2"), (9, "b3"), (10, "b0")] {
                    let job = try await store.claimExport(by: worker, at: .at(50 + worker), through: .at(900))
                    try expect(job?.token, is: token, "the turn when nobody else waits")
                }
            },
            TrackStoreCheck("a deleted export gives its service no earlier turn than its wait does") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(0)).id
                _ = try await store.addExport(.sample, token: "o", in: other, at: .at(2))
                for time in [Int64(1), 3, 5] {
                    _ = try await store.addExport(.sample, token: "a\(time)", in: service, at: .at(time))
                }
                let first = try await store.claimExport(by: 7, at: .at(10), through: .at(60))
                try expect(first?.token, is: "a1", "the first turn")
                try await store.deleteExport(first?.number ?? 0, in: service)
                let second = try await store.claimExport(by: 7, at: .at(11), through: .at(60))
                try expect(second?.token, is: "o", "the turn after a deletion")
            },
            TrackStoreCheck("a deleted export is gone at once, and nobody else's") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(0)).id
                let job = try await store.addExport(.sample, token: "a", in: service, at: .at(1))
                _ = try await store.claimExport(by: 7, at: .at(2), through: .at(60))
                try await expect(.unknownExport) {
                    try await store.deleteExport(job.number, in: other)
                }
                try await store.deleteExport(job.number, in: service)
                try await expect(.unknownExport) {
                    try await store.deleteExport(job.number, in: service)
                }
                try expect(
                    try await store.keepExport(job.number, by: 7, through: .at(99)), is: false, "that it is kept")
                try expect(
                    try await store.settleExport(job.number, by: 7, nil, at: .at(50)), is: false, "that it is settled")
                try expect(try await store.exportTokens(), is: [], "tokens")
            },
            TrackStoreCheck("a service has so many exports that are not done, and no more") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(0)).id
                for index in 0..<ExportRules.mostUnfinished {
                    _ = try await store.addExport(.sample, token: "t\(index)", in: service, at: .at(1))
                }
                try await expect(.tooManyExports) {
                    _ = try await store.addExport(.sample, token: "x", in: service, at: .at(1))
                }
                if let missing = ServiceID(rawValue: other.rawValue + 1) {
                    try await expect(.unknownService) {
                        _ = try await store.addExport(.sample, token: "x", in: missing, at: .at(1))
                    }
                }
                _ = try await store.addExport(.sample, token: "y", in: other, at: .at(1))
                let job = try await store.claimExport(by: 7, at: .at(2), through: .at(60))
                _ = try await store.settleExport(
                    job?.number ?? 0, by: 7, ExportResult(points: 0, bytes: 1), at: .at(3))
                _ = try await store.addExport(.sample, token: "x", in: service, at: .at(4))
                try expect(
                    try await store.exportCounts(), is: [.waiting: ExportRules.mostUnfinished + 1, .done: 1],
                    "jobs by state")
            },
            TrackStoreCheck("an export finds the entities that have points in its range") { subject in
                let (store, service) = try await subject.withService()
                for (index, name) in ["b", "a", "c"].enumerated() {
                    let first = 1000 * Int64(index + 1)
                    let batch = subject.custom(service, entity: name, [.sample(first), .sample(first + 60)])
                    _ = await store.ingest([batch])
                }
                try await store.addEntity(NewEntity(name: "silent"), in: service, at: .at(0))
                func names(_ from: Int64, _ through: Int64, after: Int64 = 0, limit: Int = 9) async throws -> [String] {
                    try await store.exportedEntities(
                        in: service, from: .at(from), through: .at(through), after: after, limit: limit
                    ).map(\.name)
                }
                try expect(try await names(0, 9000), is: ["b", "a", "c"], "all that have points")
                try expect(try await names(1060, 2000), is: ["b", "a"], "those of a range, with its ends")
                try expect(try await names(1061, 1999), is: [], "between points")
                let first = try await store.exportedEntities(
                    in: service, from: .at(0), through: .at(9000), after: 0, limit: 1)
                try expect(first.map(\.name), is: ["b"], "the first page")
                try expect(
                    try await names(0, 9000, after: first.first?.number ?? 0), is: ["a", "c"], "the page after it")
            },
        ]
    }
}

extension ExportOrder {
    static let sample = ExportOrder(from: .at(0), through: .at(86_400), coordinateType: .bd09ll)
}
