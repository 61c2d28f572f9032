internal import CSQLite
internal import Glibc
internal import Synchronization

/// The disk of a server under SQLite's own files: it loses its power, and then what SQLite had not synchronised.
///
/// One directory of real files. SQLite writes them through a VFS that passes every call on, and notes what the sectors held
/// that were not synchronised since. ``leave(in:seed:)`` makes another directory with what a power cut may leave of them.
package final class StoreDisk: Sendable {
    /// A disk writes whole sectors; a power cut falls between them.
    static let sectorBytes = 512

    /// One file, as far as it is not synchronised.
    struct File {
        /// Bytes when it was last synchronised.
        var durableSize: Int
        /// What the sectors held then that were written since; nil: they lay behind the end.
        var former: [Int: [UInt8]?] = [:]
        /// The least size that it was cut to since; nil: it was not made shorter.
        var cutTo: Int?
    }

    private struct State {
        var files: [String: File] = [:]
        var hasPower = true
        var callsUntilPowerFailure: Int?
        var synchronisationsUntilPowerFailure: Int?
        var interruption = Interruption.nothing
        var synchronisations = 0
    }

    /// How much of a synchronisation the disk has done when the power goes during it. The caller gets an error each time.
    package enum Interruption: Hashable, Sendable, CaseIterable {
        case nothing
        /// The sectors of the first half of the file's changes.
        case half
        /// Everything is durable, and nobody hears of it.
        case everything
    }

    package let directory: String
    private let state = Mutex(State())

    /// The directory must exist; what is in it is durable.
    package init(directory: String) {
        self.directory = directory
        StoreFiles.install()
        StoreFiles.add(self)
    }

    /// Its files are no longer watched.
    package func forget() { StoreFiles.remove(self) }

    package var hasPower: Bool { state.withLock { $0.hasPower } }

    /// Calls that made something durable.
    package var synchronisations: Int { state.withLock { $0.synchronisations } }

    /// The power goes after so many more calls that change something or make it durable; nil: not by itself.
    package func failPower(afterCalls count: Int?) {
        state.withLock {
            $0.callsUntilPowerFailure = count
            $0.synchronisationsUntilPowerFailure = nil
            $0.interruption = .nothing
        }
    }

    /// The power goes after so many more synchronisations, during the next one.
    package func failPower(afterSynchronisations count: Int, doing interruption: Interruption) {
        state.withLock {
            $0.callsUntilPowerFailure = nil
            $0.synchronisationsUntilPowerFailure = count
            $0.interruption = interruption
        }
    }

    /// From now on nothing is read and nothing is written.
    package func cutPower() { state.withLock { $0.hasPower = false } }

    // MARK: What SQLite does

    /// A file is opened; `size`: what it has now.
    func open(_ path: String, size: Int) -> Bool {
        state.withLock { state in
            if state.files[path] == nil { state.files[path] = File(durableSize: size) }
            return state.hasPower
        }
    }

    /// A call that changes something. False: without power nothing happens. `isLast`: the power goes while it is done.
    func enter() -> (isPossible: Bool, isLast: Bool) {
        state.withLock { state in
            guard state.hasPower else { return (false, true) }
            guard let rest = state.callsUntilPowerFailure else { return (true, false) }
            state.callsUntilPowerFailure = max(0, rest - 1)
            if rest == 0 { state.hasPower = false }
            return (true, rest == 0)
        }
    }

    /// The same for a synchronisation.
    func enterSynchronisation() -> (isPossible: Bool, isLast: Bool) {
        let isLast = state.withLock { state in
            guard state.hasPower, let rest = state.synchronisationsUntilPowerFailure else { return false }
            state.synchronisationsUntilPowerFailure = max(0, rest - 1)
            if rest == 0 { state.hasPower = false }
            return rest == 0
        }
        return isLast ? (true, true) : enter()
    }

    /// Sectors are about to be written or cut off. `read` tells what one holds.
    func change(_ path: String, sectors: Range<Int>, read: (Int) -> [UInt8]) {
        state.withLock { state in
            guard var file = state.files[path] else { return }
            for sector in sectors where file.former[sector] == nil {
                let isBehind = sector * Self.sectorBytes >= file.durableSize
                file.former.updateValue(isBehind ? nil : read(sector), forKey: sector)
            }
            state.files[path] = file
        }
    }

    /// The file is made shorter.
    func cut(_ path: String, to size: Int) {
        state.withLock { state in
            guard let former = state.files[path]?.cutTo ?? state.files[path]?.durableSize, size < former else { return }
            state.files[path]?.cutTo = size
        }
    }

    func synchronised(_ path: String, size: Int) {
        state.withLock { state in
            state.files[path] = File(durableSize: size)
            state.synchronisations += 1
        }
    }

    /// The power has gone during a synchronisation: a part of it is done.
    func synchronisationInterrupted(_ path: String, size: Int) {
        state.withLock { state in
            switch state.interruption {
            case .nothing: break
            case .half:
                // What was written after a cut is on no disk before the cut is.
                guard state.files[path]?.cutTo == nil else { break }
                let sectors = state.files[path]?.former.keys.sorted() ?? []
                for sector in sectors.prefix(sectors.count / 2) {
                    state.files[path]?.former.removeValue(forKey: sector)
                }
            case .everything: state.files[path] = File(durableSize: size)
            }
        }
    }

    // MARK: The cut

    /// What is left of a file.
    enum Fate: CaseIterable {
        case nothing, everything, anything
    }

    /// Writes what a power cut leaves of all files into another directory, which must exist. The power is off then.
    package func leave(in other: String, seed: UInt64) throws {
        cutPower()
        var dice = Dice(state: seed)
        let files = state.withLock { $0.files }
        // The index of the log lives in memory.
        for name in try FileBytes.names(in: directory) where !name.hasSuffix("-shm") {
            let path = "\(directory)/\(name)"
            var bytes = try FileBytes.read(path)
            if let file = files[path], !file.former.isEmpty || file.durableSize != bytes.count {
                let fate = Fate.allCases[Int(dice.next() % 3)]
                Self.revert(&bytes, file, fate, &dice)
            }
            try FileBytes.write(bytes, to: "\(other)/\(name)")
        }
    }

    static func revert(_ bytes: inout [UInt8], _ file: File, _ fate: Fate, _ dice: inout Dice) {
        guard fate != .everything else { return }
        // A file system makes a file shorter wholly or not at all, and before what is written there afterwards.
        let fate = file.cutTo != nil && dice.next() & 1 == 0 ? .nothing : fate
        let isSizeOld = fate == .nothing || file.cutTo == nil && dice.next() & 1 == 0
        let size = isSizeOld ? file.durableSize : bytes.count
        bytes += [UInt8](repeating: 0, count: max(0, size - bytes.count))
        // In a fixed order: dictionaries have none, and each sector throws the dice.
        for (sector, former) in file.former.sorted(by: { $0.key < $1.key }) {
            let start = sector * sectorBytes
            guard fate == .nothing || dice.next() & 1 == 0, start < bytes.count else { continue }
            let end = min(start + sectorBytes, bytes.count)
            var old = former ?? []
            // What was cut off does not come back alone.
            if fate != .nothing, let cut = file.cutTo {
                old.removeLast(min(old.count, max(0, start + old.count - cut)))
            }
            old += [UInt8](repeating: 0, count: sectorBytes)
            bytes.replaceSubrange(start..<end, with: old[..<(end - start)])
        }
        bytes.removeLast(max(0, bytes.count - size))
    }

    /// SplitMix64.
    struct Dice {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
