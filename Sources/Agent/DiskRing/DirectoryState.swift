/// What the cache knows of its directory, and so what it may do there. Knows no file and no clock.
///
/// The rules and their reasons: docs/decisions/0011-reading-a-directory.md.
enum DirectoryState: Hashable {
    /// The directory was not read yet. `failures` attempts met an error of the disk.
    ///
    /// What stands there is older than what memory holds, so memory hands nothing out until `mostReads` attempts have
    /// failed. Nothing may be written. Moves to: `unread`, `blind`, `inherited`.
    case unread(failures: Int)
    /// Segments stand there, and the disk refused all of them for long.
    ///
    /// Memory hands out. The directory is read again before each attempt to write, and a segment may begin beside the
    /// others when reading says the same once more. Moves to: `inherited`, `secured`.
    case blind
    /// The directory was read. An earlier process may have left records of some segments in the kernel's memory only:
    /// these segments are written once more before the cache calls their records durable. `unsecured`: their first
    /// sequences; never that of the active segment. `isBesideOthers`: segments stand there that the cache gave up, so the
    /// ledger must name the stream in use. Moves to: `inherited`, `secured`.
    case inherited(isBesideOthers: Bool, unsecured: [UInt64])
    /// The same, and all that was found is on the disk. Moves to: `secured`.
    case secured(isBesideOthers: Bool)

    /// From this attempt on reading passes over a file that the disk refuses. Earlier attempts fail as a whole: the error
    /// may pass, and a segment that is passed over stays unread until the next process.
    static let mostReads = 5
    /// Only this attempt believes that nothing can be read; it comes ten minutes after the first.
    static let mostBlindReads = 16

    /// What a reading that reached its end found out.
    enum Sight: Hashable {
        /// A stream, or that there is none. `newest`: the first sequences of the segments at whose ends an earlier process
        /// may have left records that are on no disk.
        case clear(newest: [UInt64])
        /// There are segments, and the disk refused those that would have told of a stream.
        case blind
    }

    enum Failure: Hashable {
        /// The disk refused.
        case disk
        /// The disk was not to blame: another process holds the lock, or memory waits for an answer of the server.
        case waiting
    }

    enum Verdict: Hashable {
        /// What was read counts from now on.
        case adopt
        /// A stream begins beside what nobody can read, if the disk takes it.
        case beginBeside
        /// What was read does not count; read again later.
        case tryAgain
    }

    // MARK: What may be done

    /// What stands in the directory is known. Until then only what is in memory is counted and handed out.
    var isKnown: Bool {
        switch self {
        case .unread, .blind: false
        case .inherited, .secured: true
        }
    }

    /// Nothing in the directory can be older than what memory holds, or the cache has waited for it long enough.
    var letsMemoryGo: Bool {
        switch self {
        case .unread(let failures): failures >= Self.mostReads
        case .blind, .inherited, .secured: true
        }
    }

    /// The reading that comes next passes over what the disk refuses.
    var readsWhatItCan: Bool {
        switch self {
        case .unread(let failures): failures >= Self.mostReads - 1
        case .blind, .inherited, .secured: true
        }
    }

    /// First sequences of the segments whose records a power cut may still take, although they were found.
    var unsecured: [UInt64] {
        guard case .inherited(_, let unsecured) = self else { return [] }
        return unsecured
    }

    /// The ledger must name the stream before a segment of it begins.
    var mustNameStream: Bool {
        switch self {
        case .unread, .blind: true
        case .inherited, .secured: isBesideOthers
        }
    }

    /// Files stand there that nobody could read, and that the next opening may be able to.
    var isBesideOthers: Bool {
        switch self {
        case .unread, .blind: false
        case .inherited(let isBesideOthers, _), .secured(let isBesideOthers): isBesideOthers
        }
    }

    // MARK: Events

    mutating func readingFailed(_ failure: Failure) {
        switch (self, failure) {
        case (.unread(let failures), .disk): self = .unread(failures: failures + 1)
        case (.unread, .waiting), (.blind, _), (.inherited, _), (.secured, _): break
        }
    }

    mutating func readingEnded(_ sight: Sight) -> Verdict {
        switch (self, sight) {
        case (.inherited, _), (.secured, _):
            // What is known is not read again.
            return .tryAgain
        case (.unread, .clear(let newest)), (.blind, .clear(let newest)):
            self = .inherited(isBesideOthers: false, unsecured: newest)
            if newest.isEmpty { secured(except: []) }
            return .adopt
        case (.unread(let failures), .blind) where failures < Self.mostBlindReads - 1:
            self = .unread(failures: failures + 1)
            return .tryAgain
        case (.unread, .blind), (.blind, .blind):
            self = .blind
            return .beginBeside
        }
    }

    /// A segment of a new stream stands beside those that nobody could read: from now on these are left alone.
    mutating func beganBeside() {
        if self == .blind { self = .secured(isBesideOthers: true) }
    }

    /// Segments were written once more, and synchronised. `refused`: those that the disk did not take.
    mutating func secured(except refused: [UInt64]) {
        guard case .inherited(let isBesideOthers, let unsecured) = self else { return }
        let rest = unsecured.filter(refused.contains)
        self =
            rest.isEmpty
            ? .secured(isBesideOthers: isBesideOthers) : .inherited(isBesideOthers: isBesideOthers, unsecured: rest)
    }

    /// A segment was given up, at the opening or later, and its file stays.
    mutating func gaveSegmentUp() {
        switch self {
        case .unread, .blind: break
        case .inherited(_, let unsecured): self = .inherited(isBesideOthers: true, unsecured: unsecured)
        case .secured: self = .secured(isBesideOthers: true)
        }
    }
}
