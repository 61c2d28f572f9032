package import AlarmLog
internal import Geofencing
package import LocalFences

/// The fences that the process before has left on the disk.
package struct RecalledFences: Sendable {
    /// In the order of their numbers.
    package var fences: [LocalFence] = []
    package var nextFence: Int32 = 1
    /// Why the disk does not give them; a sentence.
    package var unreadable: String?
    /// What was damaged, a sentence; nil when everything was sound.
    package var damage: String?

    package init() {}

    /// Reads the file; the call may block.
    package init(_ file: FenceFile) {
        var sound: [Int32: LocalFence] = [:]
        let reading = file.read { stored in
            guard let fence = try? LocalFence(number: stored.number, encoded: stored.bytes) else { return false }
            sound[stored.number] = fence
            return true
        }
        switch reading {
        case .absent: break
        case .read(let content):
            (fences, nextFence) = (content.fences.compactMap { sound[$0.number] }, content.nextFence)
        case .damaged(let content, let lost, let aside):
            (fences, nextFence) = (content.fences.compactMap { sound[$0.number] }, content.nextFence)
            damage = "\(lost) fences are lost, \(fences.count) are left; the damaged file is \(aside)"
        case .unreadable(let reason): unreadable = reason
        }
    }

    var book: FenceBook { FenceBook(fences, nextFence: nextFence) }
}

extension FenceFile {
    /// Durable on return; why it failed, a sentence.
    package func write(_ fences: [LocalFence], nextFence: Int32) -> String? {
        write(
            Content(
                nextFence: nextFence,
                fences: fences.map { StoredFence(number: $0.fence.id, bytes: $0.encoded) }))
    }
}
