package import AlarmLog
internal import Geofencing
package import LocalFences
internal import TimeZones

/// The fences that the process before has left on the disk.
package struct LoadedLocalFences: Sendable {
    package var fences = KeptFences()
    package var nextFence: Int32 = 1
    /// Why the disk does not give them; a sentence.
    package var unreadable: String?
    /// What was damaged, a sentence; nil when everything was sound.
    package var damage: String?

    /// What the names of time zones stand for that these fences have.
    private var zones: [String: ZoneOffsets] = [:]

    package init() {}

    /// Reads the file; the call may block.
    package init(_ file: FenceFile) {
        var sound = KeptFences()
        let reading = file.read { stored in
            do throws(FenceStateCodingError) {
                try sound.add(stored.number, encoded: stored.bytes)
                return true
            } catch {
                return false
            }
        }
        switch reading {
        case .absent: break
        case .read(let next):
            (fences, nextFence) = (sound, next)
        case .damaged(let next, let lost, let aside):
            (fences, nextFence) = (sound, next)
            damage = "\(lost) fences are lost, \(fences.count) are left; the damaged file is \(aside)"
        case .unreadable(let reason): unreadable = reason
        }
    }

    var table: LocalFenceTable {
        var table = LocalFenceTable(fences, nextFence: nextFence)
        table.zones = zones
        return table
    }

    /// Reads the time zones that the fences name; the call may block.
    mutating func readZones(from system: SystemZones) {
        zones = system.offsets(of: fences.numbers.compactMap { fences[$0]?.fence.definition.zoneName })
    }
}

extension FenceDefinition {
    /// Of the time zone of its weekly windows.
    var zoneName: String? {
        if case .named(let name)? = validity?.zone { name } else { nil }
    }
}

extension SystemZones {
    /// Of those names that this computer knows; the call may block.
    func offsets(of names: some Sequence<String>) -> [String: ZoneOffsets] {
        var found: [String: ZoneOffsets] = [:]
        for name in Set(names) { found[name] = offsets(name) }
        return found
    }
}

extension FenceFile {
    /// Durable on return; why it failed, a sentence.
    package func write(_ fences: KeptFences, nextFence: Int32) -> String? {
        // Lazily: one fence at a time is unpacked.
        let stored = fences.numbers.lazy.map { StoredFence(number: $0, bytes: fences.encoded($0) ?? []) }
        return write(stored, nextFence: nextFence)
    }
}

/// The server's fences that the process before has left on the disk.
package struct LoadedServerFences: Sendable {
    /// Nil: there were none, or they cannot be used. The server sends them again.
    package var set: ServerFenceSet?
    /// Why they cannot be used, a sentence; nil when they can, or there were none.
    package var trouble: String?

    package init() {}

    /// Reads the file; the call may block.
    package init(_ file: ServerFenceFile) {
        switch file.read() {
        case .absent: break
        case .damaged: trouble = "\(file.path) is damaged"
        case .unreadable(let reason): trouble = reason
        case .read(let bytes):
            do throws(FenceStateCodingError) {
                set = try ServerFenceSet(encoded: bytes)
            } catch {
                trouble = "\(file.path): \(error)"
            }
        }
    }
}
