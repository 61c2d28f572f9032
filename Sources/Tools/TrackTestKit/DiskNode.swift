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

    var hasUnsynchronisedChanges: Bool { !changes.isEmpty }

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
