package import TrackModel

extension TrackCache {
    /// Another computer may use the stream of this cache too, because the disk is a copy: new records get a fresh stream as soon as
    /// nothing of this one waits.
    ///
    /// What waits keeps its stream, because the other computer may have the same records, and a server knows them again by stream
    /// and sequence. Until all of it is acknowledged new records go on in the old stream: what is on a disk is of one stream, and
    /// in memory alone they would be lost with the power. Only this process remembers the wish.
    package func leaveStream(now: MonotonicTime) {
        isLeaving = true
        leaveIfDrained(now: now)
    }

    /// The last act of a call that may have ended what waits.
    func leaveIfDrained(now: MonotonicTime) {
        guard isLeaving, state == .disk, waiting == nil, directoryState.isKnown, pending.isEmpty, durableCount == 0
        else {
            return
        }
        isLeaving = false
        // Its segments take no names of the files before, of which a power cut may bring some back.
        waiting = Numbering(
            stream: newStream(), start: SequenceRange.start(after: max(highestSeen, uploading.next - 1)))
        writer = nil
        writtenCount = 0
        leaveDrainedStream()
        do throws(CacheFileError) {
            try resumeStream()
        } catch {
            return fallBack(error, now: now)
        }
        writeLedger(now: now, isDurable: false)
    }
}
