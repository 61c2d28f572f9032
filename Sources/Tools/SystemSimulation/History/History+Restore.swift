internal import NIOCore
internal import TrackModel
internal import TrackTestKit

/// A backup of the server's store is made, and put back later.
struct Restoring {
    fileprivate struct Kept {
        let store: StoreModel
        let points: RestoredPoints
        let serverFenceModel: ServerFenceModel
        let acknowledged: Set<UInt64>
        /// Early alarms that the vehicle had found.
        let early: Set<UInt64>
    }

    /// Milliseconds.
    let madeAt: Int64
    let putBackAt: Int64
    /// The server is stopped in order; else its machine is gone.
    let isOrderly: Bool
    /// What the models knew when the backup was made.
    fileprivate var kept: Kept?
    /// How far the server has told the vehicle that it has each stream.
    fileprivate(set) var told: [[UInt8]: UInt64] = [:]
    fileprivate(set) var isPutBack = false
    /// Early alarms that the vehicle had found by then, which must all be in the server's history in the end.
    fileprivate(set) var found: Set<UInt64> = []

    /// Drawn from random numbers of its own. Nil for most seeds: of 100 as many as `share` says have a backup.
    init?(seed: UInt64, share: Int, hours: Double) {
        var dice = DiskDice(seed: seed &* 0xD6E8_FEB8_6659_FD93 ^ 0xBAC0_0BAC_00BA)
        guard Int.random(in: 0..<100, using: &dice) < share else { return nil }
        let first = Int64.random(in: 5...70, using: &dice)
        madeAt = Int64(hours * 36_000) * first
        putBackAt = Int64(hours * 36_000) * Int64.random(in: first + 5...90, using: &dice)
        isOrderly = dice.one(in: 2)
    }

    /// The vehicle has lost its alarms with its disk.
    mutating func diskReplaced() { found = [] }

    mutating func told(_ stream: StreamID, through sequence: UInt64) {
        told[stream.bytes] = max(sequence, told[stream.bytes] ?? 0)
    }
}

// The server begins again with a store of before: what only it knew is lost, and nothing else.
extension History {
    func beginRestoring() {
        guard let restoring else { return }
        note("a backup is made at \(restoring.madeAt / 1000) s and put back at \(restoring.putBackAt / 1000) s")
        after(restoring.madeAt) { $0.makeBackup() }
        after(restoring.putBackAt) { $0.putBackUp() }
    }

    private func makeBackup() {
        let (executor, medium) = (executor, NIOLoopBound(medium, eventLoop: loop))
        let history = NIOLoopBound(self, eventLoop: loop)
        Task(executorPreference: executor) {
            await executor.beginOutside()
            defer { executor.endOutside() }
            do {
                try medium.value.makeBackup()
                history.value.keepModels()
            } catch {
                history.value.fail(
                    Violation(guarantee: .recovery, detail: "no backup of the store can be made: \(error)"))
            }
        }
    }

    /// Everything that the store has done is noted.
    private func keepModels() {
        guard let fences else { return }
        note("a backup of the store is made, with \(store.count) points")
        restoring?.kept = Restoring.Kept(
            store: store, points: ledger.storedPoints, serverFenceModel: fences.serverFenceModel,
            acknowledged: fences.findings.acknowledged,
            early: Set(fences.findings.early.keys))
    }

    private func putBackUp() {
        guard restoring?.kept != nil, !isHealed else { return }
        guard let machine = server, machine.core != nil, !machine.isStopping else {
            return after(5000) { $0.putBackUp() }
        }
        if restoring?.isOrderly == true {
            stopServerGently { $0.restore() }
        } else {
            stopServerNow(tellingPeers: false)
            restore()
        }
    }

    private func restore() {
        guard let restoring, let kept = restoring.kept, medium.restoreBackup() else { return startServer() }
        let lost = store.count - kept.store.count
        note("the backup is put back: the server lacks \(lost) points")
        summary.restores += 1
        summary.restoredAway += lost
        self.restoring?.isPutBack = true
        if !earlyMayDiffer, let fences {
            // The server does not know by which fences the vehicle judged after a change that the server has lost.
            let isKnown = fences.serverFenceModel.version == kept.serverFenceModel.version
            self.restoring?.found = isKnown ? Set(fences.findings.early.keys) : kept.early
        }
        store = kept.store
        ledger.serverRestored(kept.points, told: restoring.told)
        fences?.serverFenceModel = kept.serverFenceModel
        fences?.findings.serverRestored(kept.acknowledged)
        // The points behind what is lost may be judged otherwise: from places, and by fences, of before.
        fences?.mayDiffer = true
        gaps.areReasonsTold = false
        after(5000) { $0.startServer() }
    }

    func watchPromises(_ frames: FrameChecker) {
        guard restoring != nil else { return }
        frames.onPromise = { [unowned self] stream, sequence in
            if restoring?.isPutBack == false { restoring?.told(stream, through: sequence) }
        }
    }

    /// The early alarms of before are in the history of a server that has lost their points.
    func checkRestored(_ ids: Set<UInt64>, _ entity: String) throws(Violation) {
        guard let restoring, restoring.isPutBack, let early = fences?.findings.early else { return }
        for id in restoring.found.sorted() where early[id] == entity && !ids.contains(id) {
            throw Violation(
                guarantee: .fences,
                detail:
                    "early alarm \(id) of \(entity) was found before a backup of the server was put back, and is not "
                    + "in its history in the end")
        }
    }
}
