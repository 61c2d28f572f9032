package import DiskRing

/// A disk in memory that forgets what was not synchronised, fails on demand, fills up, tears and rots.
///
/// The visible state is what a running program sees; a power cut (`crash`) leaves what was synchronised and a random
/// part of the rest: writes sector by sector, names only if their directory was synchronised. Deterministic.
package final class DiskSimulation: CacheFileSystem {
    /// A name that appeared, vanished or changed, waiting for its directory's fsync.
    private struct NameChange {
        let directory: String
        let names: [(path: String, node: DiskNode?)]
    }

    private struct OpenFile {
        let node: DiskNode
        let isWritable: Bool
        let path: String
    }

    /// Checked in order at every call; those that are used up stay and do nothing.
    package var faults: [DiskFault] = []
    /// Bytes in whole blocks, as a full disk counts them.
    package var capacity: Int?
    package var isReadOnly = false
    /// Reads and writes move a random part of what they are asked.
    package var hasShortTransfers = false
    /// One call in so many is interrupted by a signal; nil: none.
    package var interruptionOdds: Int?
    /// What each synchronisation takes, in milliseconds; added up in `delay` for whoever owns the clock.
    package var synchronizationDelay: Int64 = 0
    package private(set) var delay: Int64 = 0
    /// The machine loses power after so many more calls that change something; nil: never.
    package var callsUntilPowerFailure: Int?
    package private(set) var hasPower = true

    /// Calls so far that change something or make it durable: where a power cut can fall.
    package private(set) var changingCalls = 0
    /// Calls so far by kind, failed ones included.
    package private(set) var calls: [CacheFileError.Operation: Int] = [:]
    package private(set) var bytesWritten = 0
    /// What a checker is told; nil: nobody asks, nothing is kept.
    package var witnessed: DiskEvents?
    /// Calls to open for reading, to measure or to read that failed, since the disk was made; by path.
    package private(set) var refusedReads: [String: Int] = [:]

    private var visible: [String: DiskNode] = [:]
    private var durable: [String: DiskNode] = [:]
    private var nameChanges: [NameChange] = []
    private var openFiles: [Int32: OpenFile] = [:]
    private var locks: [(node: DiskNode, descriptor: Int32)] = []
    private var nextDescriptor: Int32 = 3
    private var dice: DiskDice

    /// `directories`: absolute paths that exist, durably, beside the root.
    package init(seed: UInt64 = 0, directories: [String] = []) {
        dice = DiskDice(seed: seed)
        for path in ["/"] + directories {
            let node = DiskNode(isDirectory: true)
            visible[path] = node
            durable[path] = node
        }
    }

    // MARK: What tests do to it

    /// Cuts the power: open files and locks are gone; the machine then has power again.
    package func crash(seed: UInt64) {
        var dice = DiskDice(seed: seed)
        openFiles = [:]
        locks = []
        // A journal keeps the order of names; a disk without one keeps any of them.
        let keepsOrder = dice.one(in: 2)
        let kept = Int.random(in: 0...nameChanges.count, using: &dice)
        for (index, change) in nameChanges.enumerated() where keepsOrder ? index < kept : dice.one(in: 2) {
            apply(change, to: &durable)
        }
        nameChanges = []
        // In a fixed order: dictionaries have none, and each node throws the dice.
        var seen: Set<ObjectIdentifier> = []
        for path in durable.keys.sorted() {
            guard let node = durable[path], seen.insert(ObjectIdentifier(node)).inserted else { continue }
            node.crash(using: &dice)
        }
        visible = durable
        callsUntilPowerFailure = nil
        hasPower = true
    }

    /// The process dies, the machine goes on: files are closed, nothing is lost.
    package func killProcess() {
        openFiles = [:]
        locks = []
    }

    /// The same files on another disk, with power and without faults: what this disk would show to somebody who looks.
    package func duplicate() -> DiskSimulation {
        let copy = DiskSimulation()
        for (path, node) in visible {
            let twin = DiskNode(isDirectory: node.isDirectory)
            if !node.isDirectory {
                twin.change(.write(offset: 0, bytes: node.visible))
                twin.synchronize()
            }
            copy.visible[path] = twin
            copy.durable[path] = twin
        }
        return copy
    }

    package func flip(bit: Int, at offset: Int, of path: String) {
        visible[path]?.flip(bit: bit, at: offset)
    }

    package func contents(of path: String) -> [UInt8]? { visible[path]?.visible }

    /// What a power cut cannot take: the bytes that were synchronised, under a name that was.
    package func durableContents(of path: String) -> [UInt8]? { durable[path]?.durable }

    /// Puts a file there, durably, as if by somebody else.
    package func plant(_ bytes: [UInt8], at path: String) {
        let node = DiskNode()
        node.change(.write(offset: 0, bytes: bytes))
        node.synchronize()
        visible[path] = node
        durable[path] = node
    }

    package func remove(_ path: String) {
        visible[path] = nil
        durable[path] = nil
    }

    package var usedBytes: Int { visible.values.reduce(0) { $0 + $1.allocated } }
    package var openFileCount: Int { openFiles.count }
    package var paths: [String] { visible.keys.sorted() }

    // MARK: The file system

    package func makeDirectory(_ path: String) throws(CacheFileError) {
        try enter(.makeDirectory, changes: true)
        guard visible[path] == nil else { throw CacheFileError(.makeDirectory, 17) }
        guard visible[Self.parent(of: path)] != nil else { throw CacheFileError(.makeDirectory, 2) }
        set([(path, DiskNode(isDirectory: true))])
    }

    package func list(_ directory: String) throws(CacheFileError) -> [String] {
        try enter(.list)
        guard let node = visible[directory] else { throw CacheFileError(.list, 2) }
        guard node.isDirectory else { throw CacheFileError(.list, 20) }
        return visible.keys.sorted().filter { $0 != directory && Self.parent(of: $0) == directory }
            .map { String($0.dropFirst(directory == "/" ? 1 : directory.utf8.count + 1)) }
    }

    package func open(_ path: String, _ access: CacheFileAccess) throws(CacheFileError) -> CacheFile {
        try enter(
            .open, changes: access == .replace || (access == .readWriteOrCreate && visible[path] == nil),
            readOf: access == .readOnly ? path : nil)
        let isWritable = access != .readOnly
        if isWritable, isReadOnly { throw CacheFileError(.open, 30) }
        guard visible[Self.parent(of: path)]?.isDirectory == true else { throw CacheFileError(.open, 2) }
        let node: DiskNode
        if let known = visible[path] {
            node = known
            if access == .replace {
                witnessed?.lost(node.visible, of: path)
                node.change(.resize(0))
            }
        } else {
            guard access == .replace || access == .readWriteOrCreate else { throw CacheFileError(.open, 2) }
            node = DiskNode()
            set([(path, node)])
        }
        let descriptor = nextDescriptor
        nextDescriptor += 1
        openFiles[descriptor] = OpenFile(node: node, isWritable: isWritable, path: path)
        return CacheFile(descriptor: descriptor)
    }

    package func close(_ file: CacheFile) {
        openFiles[file.descriptor] = nil
        locks.removeAll { $0.descriptor == file.descriptor }
    }

    package func size(of file: CacheFile) throws(CacheFileError) -> Int {
        try enter(.size, readOf: pathRead(file), file: file)
        return try node(file, .size).visible.count
    }

    package func read(
        _ file: CacheFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        try enter(.read, readOf: pathRead(file), file: file)
        let content = try node(file, .read).visible
        let available = max(0, min(buffer.count, content.count - offset))
        let count = transfer(available)
        content.withUnsafeBytes { all in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[min(offset, all.count)...].prefix(count)))
        }
        return count
    }

    package func write(
        _ file: CacheFile, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(CacheFileError) -> Int {
        try enter(.write, changes: true)
        let node = try writable(file, .write)
        var count = transfer(bytes.count)
        if let capacity, offset + count > node.visible.count {
            let free = max(0, capacity - usedBytes) + node.allocated
            count = min(count, max(0, free - offset))
            if count == 0, !bytes.isEmpty { throw CacheFileError(.write, 28) }
        }
        node.change(.write(offset: offset, bytes: Array(bytes.prefix(count))))
        bytesWritten += count
        return count
    }

    package func truncate(_ file: CacheFile, to size: Int) throws(CacheFileError) {
        try enter(.truncate, changes: true)
        let node = try writable(file, .truncate)
        if let path = openFiles[file.descriptor]?.path, size < node.visible.count {
            witnessed?.lost(node.visible, of: path)
        }
        node.change(.resize(size))
    }

    package func synchronizeData(_ file: CacheFile) throws(CacheFileError) {
        try synchronize(file, .synchronizeData)
    }

    package func synchronize(_ file: CacheFile) throws(CacheFileError) {
        try synchronize(file, .synchronize)
    }

    private func synchronize(_ file: CacheFile, _ operation: CacheFileError.Operation) throws(CacheFileError) {
        do throws(CacheFileError) {
            try enter(operation, changes: true)
        } catch {
            if hasPower, error.number != 4 { openFiles[file.descriptor]?.node.loseChanges() }
            throw error
        }
        delay += synchronizationDelay
        try node(file, operation).synchronize()
    }

    package func synchronizeDirectory(_ path: String) throws(CacheFileError) {
        try enter(.synchronizeDirectory, changes: true)
        delay += synchronizationDelay
        guard visible[path]?.isDirectory == true else { throw CacheFileError(.synchronizeDirectory, 2) }
        for change in nameChanges where change.directory == path { apply(change, to: &durable) }
        nameChanges.removeAll { $0.directory == path }
    }

    package func rename(_ path: String, to newPath: String) throws(CacheFileError) {
        try enter(.rename, changes: true)
        guard let node = visible[path] else { throw CacheFileError(.rename, 2) }
        if let replaced = visible[newPath] { witnessed?.lost(replaced.visible, of: newPath) }
        set([(newPath, node), (path, nil)])
    }

    package func unlink(_ path: String) throws(CacheFileError) {
        try enter(.unlink, changes: true)
        guard let node = visible[path] else { throw CacheFileError(.unlink, 2) }
        witnessed?.lost(node.visible, of: path)
        set([(path, nil)])
    }

    package func lock(_ file: CacheFile) throws(CacheFileError) -> Bool {
        try enter(.lock)
        let node = try node(file, .lock)
        if let holder = locks.first(where: { $0.node === node }) { return holder.descriptor == file.descriptor }
        locks.append((node, file.descriptor))
        return true
    }

    // MARK: Inside

    /// Counts a call and decides whether it fails before it does anything.
    private func enter(
        _ operation: CacheFileError.Operation, changes: Bool = false, readOf path: String? = nil,
        file: CacheFile? = nil
    ) throws(CacheFileError) {
        calls[operation, default: 0] += 1
        guard hasPower else { throw CacheFileError(operation, 5) }
        if changes {
            if let rest = callsUntilPowerFailure {
                guard rest > 0 else {
                    hasPower = false
                    throw CacheFileError(operation, 5)
                }
                callsUntilPowerFailure = rest - 1
            }
            changingCalls += 1
        }
        if let interruptionOdds, Self.interruptible.contains(operation), dice.one(in: interruptionOdds) {
            throw CacheFileError(operation, 4)
        }
        for index in faults.indices where faults[index].strikes(operation) {
            if let path { witnessed?.refused(path) }
            if let any = path ?? file.flatMap({ openFiles[$0.descriptor]?.path }) { refusedReads[any, default: 0] += 1 }
            throw CacheFileError(operation, faults[index].number)
        }
        if changes, isReadOnly, operation != .open { throw CacheFileError(operation, 30) }
    }

    /// Nil for a file that is open for writing.
    private func pathRead(_ file: CacheFile) -> String? {
        openFiles[file.descriptor].flatMap { $0.isWritable ? nil : $0.path }
    }

    private static let interruptible: Set<CacheFileError.Operation> = [
        .open, .read, .write, .synchronize, .synchronizeData, .synchronizeDirectory,
    ]

    private func set(_ names: [(path: String, node: DiskNode?)]) {
        let change = NameChange(directory: Self.parent(of: names[0].path), names: names)
        apply(change, to: &visible)
        nameChanges.append(change)
    }

    private func apply(_ change: NameChange, to names: inout [String: DiskNode]) {
        for (path, node) in change.names { names[path] = node }
    }

    private func transfer(_ count: Int) -> Int {
        guard hasShortTransfers, count > 1 else { return count }
        return Int.random(in: 1...count, using: &dice)
    }

    private func node(_ file: CacheFile, _ operation: CacheFileError.Operation) throws(CacheFileError) -> DiskNode {
        guard let open = openFiles[file.descriptor] else { throw CacheFileError(operation, 9) }
        return open.node
    }

    private func writable(
        _ file: CacheFile, _ operation: CacheFileError.Operation
    ) throws(CacheFileError) -> DiskNode {
        guard let open = openFiles[file.descriptor], open.isWritable else { throw CacheFileError(operation, 9) }
        return open.node
    }

    private static func parent(of path: String) -> String {
        let parts = path.split(separator: "/").dropLast()
        return "/" + parts.joined(separator: "/")
    }
}
