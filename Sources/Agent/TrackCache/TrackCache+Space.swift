internal import TrackModel

// Deleting: what is acknowledged, what is over the bound.
extension TrackCache {
    var diskBytes: Int { segments.reduce(0) { $0 + $1.bytes } }

    /// The newest segment stays, active or not: its header is the evidence of the numbers in use.
    private var sealedCount: Int { max(segments.count - 1, 0) }

    /// Drops the oldest segments until `bytes` more fit; the active one stays.
    func enforceLimit(adding bytes: Int) {
        guard let limit = options.limit else { return }
        while diskBytes + bytes > limit, sealedCount > 0 {
            counters.droppedByBound += liveCount(0)
            counters.segmentsDropped += 1
            remove(at: 0)
        }
        unlinkWhatIsDoomed()
    }

    /// Deletes segments in which nothing is left to upload.
    func removeFinished() {
        var index = 0
        var sealed = sealedCount
        while index < sealed {
            let segment = segments[index]
            let isFinished = segment.last <= uploading.acknowledged || segment.tally.count == 0
            // A clear stays on disk as long as anything it may apply to, and a segment as long as what its name guards.
            guard isFinished, index == 0 || !(segment.holdsTombstone || segments[index - 1].reachesBeyond) else {
                index += 1
                continue
            }
            remove(at: index)
            sealed -= 1
        }
        unlinkWhatIsDoomed()
    }

    func remove(at index: Int) {
        let segment = segments.remove(at: index)
        doomed.append(
            DoomedSegment(name: segment.name, isLast: segment.holdsTombstone || segments.isEmpty))
        if cursor?.segment == segment.first { cursor = nil }
        pruneTombstones()
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
