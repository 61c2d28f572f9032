internal import TrackModel

// Deleting: what is acknowledged, what is over the bound.
extension TrackCache {
    var diskBytes: Int { segments.reduce(0) { $0 + $1.bytes } }

    /// The newest segment stays, active or not: its header is the evidence of the numbers in use.
    private var sealedCount: Int { max(segments.count - 1, 0) }

    /// Makes room for a new segment of a name.
    ///
    /// What goes when the new segment stands needs no room beside it: a segment of the same name, and a newest one in
    /// which nothing is left. For a moment the files exceed the bound by this segment.
    func makeRoom(for first: UInt64) {
        removeFinished()
        enforceLimit(adding: options.segmentBytes, for: first)
    }

    /// Drops the oldest segments until `bytes` more fit, those of a segment of the name `first`; the newest one stays.
    func enforceLimit(adding bytes: Int, for first: UInt64? = nil) {
        guard let limit = options.limit else { return }
        while sealedCount > 0, diskBytes + bytes - bytesReplaced(by: first) > limit {
            let count = liveCount(0)
            if count > 0 { noteLoss(.dropped, segments[0].first, through: segments[0].last) }
            counters.droppedByBound += count
            counters.segmentsDropped += 1
            remove(at: 0)
        }
        unlinkWhatIsDoomed()
    }

    private func bytesReplaced(by first: UInt64?) -> Int {
        guard let first, let newest = segments.last else { return 0 }
        return newest.first == first || isFinished(segments.count - 1) ? newest.bytes : 0
    }

    /// Deletes segments in which nothing is left to upload.
    func removeFinished() {
        var index = 0
        while index < sealedCount {
            if isFinished(index) { remove(at: index) } else { index += 1 }
        }
        unlinkWhatIsDoomed()
    }

    /// Nothing in it is left to upload, and nothing else needs it.
    private func isFinished(_ index: Int) -> Bool {
        let segment = segments[index]
        guard segment.last <= uploading.acknowledged || segment.tally.count == 0, !segment.holdsUnread else {
            return false
        }
        // A clear stays on disk as long as anything it may apply to, and a segment as long as what its name guards.
        if index > 0 { return !segment.holdsTombstone && !segments[index - 1].reachesBeyond }
        return !segment.holdsTombstone || !directoryState.isBesideOthers
    }

    func remove(at index: Int) {
        let segment = forget(at: index)
        doomed.append(
            DoomedSegment(name: segment.name, isLast: segment.holdsTombstone || segments.isEmpty))
        pruneTombstones()
    }

    /// This process has no more to do with it; its file stays.
    @discardableResult
    func forget(at index: Int) -> Segment {
        let segment = segments.remove(at: index)
        if cursor?.segment == segment.first { cursor = nil }
        return segment
    }

    /// Forgets clears of which everything they apply to is gone.
    func pruneTombstones() {
        // What is not durably unlinked may come back with a power cut, and would need its clear.
        guard !tombstones.isEmpty, doomed.isEmpty, !hasUnsynchronisedUnlinks else { return }
        let oldest = segments.first?.first ?? uploading.next
        let saved = tombstones.count - unsavedTombstones
        // The unsaved ones still have to reach the disk.
        let kept = tombstones[..<saved].filter { $0.below > oldest }
        tombstones = kept + tombstones[saved...]
    }

    private func unlinkWhatIsDoomed() {
        do throws(CacheFileError) {
            try unlinkDoomed(all: false)
        } catch {
            // They stay listed: tried again with the next deletion, and before a disk is trusted again.
            count(error)
        }
    }

    /// In order, so that no clear vanishes before what it cleared, nor the highest numbers of a stream before lower
    /// ones. `all`: also makes it durable.
    func unlinkDoomed(all: Bool) throws(CacheFileError) {
        guard lock != nil else { return }
        while let next = doomed.first {
            if next.isLast { try synchronizeUnlinks() }
            do throws(CacheFileError) {
                try files.unlink("\(directory)/\(next.name)")
            } catch {
                guard error.number == noEntryErrno else { throw error }
            }
            hasUnsynchronisedUnlinks = true
            doomed.removeFirst()
        }
        if all { try synchronizeUnlinks() }
    }

    private func synchronizeUnlinks() throws(CacheFileError) {
        guard hasUnsynchronisedUnlinks else { return }
        try files.synchronizeNames(in: directory)
        counters.syncs += 1
        hasUnsynchronisedUnlinks = false
    }
}
