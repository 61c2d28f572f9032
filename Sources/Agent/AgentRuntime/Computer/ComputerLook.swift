internal import Logging
internal import SecureLink
internal import Systemd
internal import TrackCache
internal import TrackModel

/// Looks at each start whether the disk came from another computer: then another agent may use the same stream.
struct ComputerLook {
    let file: ComputerFile
    let traits: ComputerTraits
    let log: Logger

    /// Leaves the stream of a ring whose disk came from another computer, and returns whether it did. A ring whose disk does not
    /// answer is looked at by the next process.
    func look(at cache: TrackCache, now: MonotonicTime) -> Bool {
        guard case .disk = cache.state else { return false }
        let verdict: ComputerVerdict
        do throws(SecureLinkError) {
            verdict = try ComputerVerdict(file.read(), traits, stream: cache.streamID)
        } catch {
            log.warning("This computer cannot be told from another one", metadata: ["reason": "\(error.detail)"])
            return false
        }
        // First on the disk: a process that is killed here must not take the next one for the same computer's.
        if let note = verdict.note, let trouble = file.write(note) {
            log.warning("On which computer the agent runs cannot be noted", metadata: ["reason": "\(trouble)"])
        }
        guard verdict.isMoved else { return false }
        if verdict.isNews {
            log.warning(
                "This disk was in another computer: new points get a stream of their own",
                metadata: .event(
                    .computerChanged,
                    [
                        "points": "\(cache.count)",
                        "remedy": "if it is a copy: sudo saker image prepare, then sudo saker enroll",
                    ]))
        }
        cache.leaveStream(now: now)
        return true
    }
}
