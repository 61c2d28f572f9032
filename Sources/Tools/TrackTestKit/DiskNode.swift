package import DiskRing

/// One simulated file: what reading shows, what the platter holds, and what lies between.
final class DiskNode {
    enum Change {
        case write(offset: Int, bytes: [UInt8])
        case resize(Int)
    }

    /// A disk writes whole sectors; a power cut falls between them.
    static let sectorBytes = 512

    private(set) var visible: [UInt8] = []
    private(set) var durable: [UInt8] = []
    private var changes: [Change] = []
    let isDirectory: Bool

    init(isDirectory: Bool = false) {
        self.isDirectory = isDirectory
    }

    /// Bytes of whole blocks.
    var allocated: Int { (visible.count + 4095) / 4096 * 4096 }

    func change(_ change: Change) {
        Self.apply(change, to: &visible)
        changes.append(change)
    }

    func synchronize() {
        for change in changes { Self.apply(change, to: &durable) }
        changes = []
    }

    /// A failed fsync: the kernel calls the pages clean, reading still shows them, no later fsync writes them.
    func loseChanges() {
        changes = []
    }

    /// Damage to what is stored, whoever looks at it: also to what the kernel has and the platter has not.
    func flip(bit: Int, at offset: Int) {
        let mask: UInt8 = 1 << UInt8(bit & 7)
        if offset < visible.count { visible[offset] ^= mask }
        if offset < durable.count { durable[offset] ^= mask }
        changes = changes.map { change in
            guard case .write(let start, var bytes) = change, bytes.indices.contains(offset - start) else {
                return change
            }
            bytes[offset - start] ^= mask
            return .write(offset: start, bytes: bytes)
        }
    }

    /// The power is gone: of what was not synchronised anything may have arrived, sector by sector, in any order.
    func crash(using dice: inout DiskDice) {
        enum Fate: CaseIterable { case nothing, everything, prefix, anything }
        let fate = Fate.allCases.randomElement(using: &dice) ?? .nothing
        let arrived =
            switch fate {
            case .nothing: 0
            case .everything, .anything: changes.count
            case .prefix: Int.random(in: 0...changes.count, using: &dice)
            }
        for (index, change) in changes[..<arrived].enumerated() {
            let isTorn = fate == .anything || (fate == .prefix && index == arrived - 1)
            guard isTorn, case .write(let offset, let bytes) = change else {
                if !isTorn || dice.one(in: 2) { Self.apply(change, to: &durable) }
                continue
            }
            var start = 0
            while start < bytes.count {
                let sectorEnd = ((offset + start) / Self.sectorBytes + 1) * Self.sectorBytes - offset
                let end = min(sectorEnd, bytes.count)
                if dice.one(in: 2) {
                    Self.apply(.write(offset: offset + start, bytes: Array(bytes[start..<end])), to: &durable)
                }
                start = end
            }
        }
        changes = []
        visible = durable
    }

    private static func apply(_ change: Change, to content: inout [UInt8]) {
        switch change {
        case .resize(let size):
            if size <= content.count {
                content.removeLast(content.count - size)
            } else {
                content += [UInt8](repeating: 0, count: size - content.count)
            }
        case .write(let offset, let bytes):
            let end = offset + bytes.count
            if end > content.count { content += [UInt8](repeating: 0, count: end - content.count) }
            content.replaceSubrange(offset..<end, with: bytes)
        }
    }
}

/// Calls that a simulated disk refuses.
package struct DiskFault: Hashable, Sendable {
    /// Nil: every operation.
    package var operations: Set<CacheFileError.Operation>?
    /// Matching calls that still work before.
    package var after: Int
    /// Matching calls that fail then.
    package var times: Int
    /// `errno`, for example 28 for `ENOSPC`, 5 for `EIO`.
    package var number: Int32

    package init(
        _ operations: Set<CacheFileError.Operation>? = nil, after: Int = 0, times: Int = .max, number: Int32
    ) {
        self.operations = operations
        self.after = after
        self.times = times
        self.number = number
    }

    /// Whether this call fails; counts it.
    mutating func strikes(_ operation: CacheFileError.Operation) -> Bool {
        guard operations?.contains(operation) ?? true else { return false }
        if after > 0 {
            after -= 1
            return false
        }
        guard times > 0 else { return false }
        if times < .max { times -= 1 }
        return true
    }
}

/// What happened to the files of a simulated disk, for a checker beside the program that uses the disk.
package struct DiskEvents: Sendable {
    /// Calls to open a file only for reading, to measure it or to read it, that failed; by path.
    package private(set) var refusals: [String: Int] = [:]
    /// Files that lost their name or their end, with what they held before.
    package private(set) var losses: [(path: String, bytes: [UInt8])] = []

    package init() {}

    mutating func refused(_ path: String) { refusals[path, default: 0] += 1 }
    mutating func lost(_ bytes: [UInt8], of path: String) { losses.append((path, bytes)) }
}

/// Random numbers of a disk: the same seed gives the same disk, on every machine.
package struct DiskDice: RandomNumberGenerator, Sendable {
    private var numbers: SplitMix

    package init(seed: UInt64) {
        numbers = SplitMix(state: seed)
    }

    package mutating func next() -> UInt64 { numbers.next() }

    /// True once in `odds` throws, on average.
    package mutating func one(in odds: Int) -> Bool {
        Int.random(in: 0..<max(odds, 1), using: &self) == 0
    }
}

/// A disk in front of a simulated one: what a conforming type does not do itself, the disk behind it does.
package protocol DiskDecorator: CacheFileSystem {
    var disk: DiskSimulation { get }
}

extension DiskDecorator {
    package func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        try disk.open(path, access)
    }
    package func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        try disk.read(file, into: buffer, at: offset)
    }
    package func makeDirectory(_ path: String) throws(CacheFileError) { try disk.makeDirectory(path) }
    package func list(_ directory: String) throws(CacheFileError) -> [String] { try disk.list(directory) }
    package func close(_ file: CacheFile) { disk.close(file) }
    package func size(of file: CacheFile) throws(CacheFileError) -> Int { try disk.size(of: file) }
    package func write(
        _ file: CacheFile, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        try disk.write(file, bytes, at: offset)
    }
    package func truncate(_ file: CacheFile, to size: Int) throws(CacheFileError) { try disk.truncate(file, to: size) }
    package func synchronizeData(_ file: CacheFile) throws(CacheFileError) { try disk.synchronizeData(file) }
    package func synchronize(_ file: CacheFile) throws(CacheFileError) { try disk.synchronize(file) }
    package func synchronizeDirectory(_ path: String) throws(CacheFileError) { try disk.synchronizeDirectory(path) }
    package func rename(_ path: String, to newPath: String) throws(CacheFileError) {
        try disk.rename(path, to: newPath)
    }
    package func unlink(_ path: String) throws(CacheFileError) { try disk.unlink(path) }
    package func lock(_ file: CacheFile) throws(CacheFileError) -> Bool { try disk.lock(file) }
}
