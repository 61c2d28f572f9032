internal import Geofencing
internal import NIOCore
internal import StoreDisk
internal import TrackModel
internal import TrackStore
internal import TrackStoreSQLite
internal import TrackTestKit

// The server's machine loses power: what it acknowledged is in the store after the cut, once.
extension History {
    func watchPower(_ watch: StoreObserver) {
        watch.hasPower = { [unowned self] in medium.hasPower }
        watch.onInterruption = { [unowned self] in interrupted += $0 }
        watch.onPowerFailure = { [unowned self] in serverLosesPower() }
    }

    /// Now, in the middle of one of the next calls that change a file of the store, or of one that makes changes durable: then
    /// a commit may stand although its answer is an error.
    func cutServer() {
        guard medium.losesPower, server?.store != nil, !dice.one(in: 3) else { return serverLosesPower() }
        let isInCommit = dice.one(in: 2)
        if isInCommit {
            let interruption: StoreDisk.Interruption =
                dice.one(in: 2) ? .everything : dice.one(in: 2) ? .half : .nothing
            medium.failPower(afterSynchronisations: Int.random(in: 0...2, using: &dice), doing: interruption)
        } else {
            medium.failPower(afterCalls: Int.random(in: 0...(dice.one(in: 2) ? 8 : 80), using: &dice))
        }
        // A store without work would never get there.
        after(Int64.random(in: 1000...(isInCommit ? 300_000 : 60_000), using: &dice)) { history in
            guard !history.isHealed else { return }
            history.medium.failPower(afterCalls: nil)
        }
    }

    /// The process is gone, and with it what its disk had not synchronised.
    func serverLosesPower() {
        stopServerNow(tellingPeers: false)
        note("the server loses power")
        let (seed, pause) = (dice.next(), Int64.random(in: 1000...120_000, using: &dice))
        // Not while calls are under way: the files are read.
        loop.execute { [self] in
            lookAtStore(seed: seed)
            after(pause) { $0.startServer() }
        }
    }

    func storeStaysClosed() {
        fail(Violation(guarantee: .recovery, detail: "the server's store cannot be opened"))
    }

    /// What is left of the store, before anybody opens it.
    private func lookAtStore(seed: UInt64) {
        guard medium.losesPower else { return }
        let (executor, medium) = (executor, NIOLoopBound(medium, eventLoop: loop))
        let history = NIOLoopBound(self, eventLoop: loop)
        let owners = store.owners
        let time = Timestamp(milliseconds: trueTime)
        let work: @Sendable () async -> Void = {
            await executor.beginOutside()
            defer { executor.endOutside() }
            do {
                guard let copy = try await medium.value.cutPower(seed: seed) else { return }
                var through: [StreamOwner: UInt64] = [:]
                for owner in owners {
                    through[owner] = try await copy.openStream(
                        owner.stream, of: owner.entity, in: owner.service, at: time
                    ).storedThrough
                }
                let problems = try await copy.checkIntegrity()
                let points = try await copy.counts().points
                let alarms = try await history.value.alarms(of: copy)
                medium.value.remove(copy)
                history.value.compare(afterCut: through, points: points, alarms: alarms, problems: problems)
            } catch {
                history.value.fail(
                    Violation(
                        guarantee: .recovery,
                        detail: "after a power cut of the server its store cannot be read: \(error)"))
            }
        }
        Task(executorPreference: executor, operation: work)
    }

    private func compare(
        afterCut through: [StreamOwner: UInt64], points: Int, alarms: Set<AlarmKey>, problems: [String]
    ) {
        summary.storeCuts += 1
        let open = interrupted
        interrupted = []
        check { () throws(Violation) in
            guard problems.isEmpty else {
                throw Violation(
                    guarantee: .exactlyOnce, detail: "after a power cut the store says of itself: \(problems)")
            }
            let taken = try store.powerReturned(open, through: through, points: points)
            // No point tells of a batch that only reports alarms: the alarms do.
            for batch in open where batch.points.isEmpty {
                guard try fences?.serverFenceModel.isStored(batch, among: alarms) == true else { continue }
                pushesQueued(with: batch, after: 0)
                try fencesStored(batch, new: [])
            }
            if !taken.isEmpty { summary.storeCutsAfterCommit += 1 }
            for (batch, former, new) in taken {
                pushesQueued(with: batch, after: former)
                try fencesStored(batch, new: new)
                guard !isTwins(batch.position?.stream) else {
                    twinStored(new.count)
                    continue
                }
                for point in new { try ledger.stored(point, entity: batch.entity, at: now) }
            }
        }
    }
}
