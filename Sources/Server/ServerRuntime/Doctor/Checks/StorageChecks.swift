import Diagnosing
import Terminal

/// The disk under the store, and the store.
enum StorageChecks {
    private static let mebibyte: Int64 = 1 << 20
    /// SQLite's write-ahead log needs memory that all its users share: no file system of another machine has it.
    private static let remote: Set<String> = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "glusterfs", "afs"]

    static func disk(_ facts: ServerFacts) -> Finding {
        .joined(facts.disks.flatMap(judge)) ?? .notChecked("the store's directory cannot be asked")
    }

    private static func judge(_ disk: DiskFacts) -> [Finding] {
        let place = disk.directory
        var checks: [Finding] = []
        if disk.isReadOnly {
            checks.append(
                .failed(
                    "\(place) is mounted read-only",
                    "sudo mount -o remount,rw \(place); if the kernel made it read-only: sudo dmesg | tail"))
        }
        switch disk.sync {
        case .done(let milliseconds) where milliseconds > 1000:
            checks.append(
                .warning(
                    "\(place) took \(milliseconds) ms to write one small file to the medium",
                    "Points are acknowledged after a sync: use a faster disk, or see what else writes there: sudo apt install sysstat, then: iostat -x 1"
                ))
        case .failed(let reason):
            checks.append(
                .failed(
                    "\(place): a file cannot be written and synchronised: \(reason)",
                    "Look for errors of the disk: sudo dmesg | tail; for room: df -h \(place); df -i \(place)"))
        case .hangs:
            checks.append(
                .failed(
                    "\(place): writing a small file does not end",
                    "Look for errors of the disk: sudo dmesg | tail"))
        case .forbidden: checks.append(.notChecked("this user may not write to \(place)", ServerDoctor.asRoot))
        case .done: break
        }
        if let kind = disk.kind {
            if remote.contains(kind) || kind.hasPrefix("fuse.ssh") {
                checks.append(
                    .failed(
                        "\(place) is on a file system of another machine (\(kind)): the store can be damaged there",
                        "Move the store to a local disk, and name it in path of [store]"))
            } else if kind == "tmpfs" || kind == "ramfs" {
                checks.append(
                    .warning(
                        "\(place) is in memory (\(kind)): a restart of the machine deletes the store",
                        "Move the store to a disk, and name it in path of [store]"))
            } else if kind == "overlay" {
                checks.append(
                    .warning(
                        "\(place) is in a container's own layer: the store goes with the container",
                        "Give the container a volume for it"))
            }
        }
        let share = disk.total > 0 ? disk.free * 100 / disk.total : 100
        let room = "\(place) has \(Quantity.bytes(disk.free)) free of \(Quantity.bytes(disk.total))"
        let remedy = "Make room: du -xh --max-depth=1 \(place); limits are maximum_bytes in [store] and [exports]"
        if disk.free < 100 * mebibyte {
            checks.append(.failed(room, remedy))
        } else if share < 5 || disk.free < 1024 * mebibyte {
            checks.append(.warning(room, remedy))
        } else {
            checks.append(.ok(room + (disk.kind.map { " (\($0))" } ?? "")))
        }
        return checks
    }

    static func store(_ facts: ServerFacts) -> Finding {
        switch facts.store {
        case .unreadable(let reason, isForbidden: true): return .notChecked(reason, ServerDoctor.asRoot)
        case .unreadable(let reason, isForbidden: false):
            return .failed(
                reason, "journalctl -u saker-server says what the server found; restore a backup if it is gone")
        case .read(let store): return judge(store)
        }
    }

    private static func judge(_ store: StoreContent) -> Finding {
        let size = "\(store.path), schema \(store.schema), \(Quantity.bytes(store.bytes))"
        if let first = store.problems?.first {
            return .failed(
                "\(size): \(first)" + (store.problems?.count == 1 ? "" : " (and more)"),
                "Stop the server, keep a copy, and restore a backup; or save what is left: sudo apt install sqlite3, then: sqlite3 \(store.path) .recover"
            )
        }
        if !store.strangeFiles.isEmpty {
            return .failed(
                "\(store.strangeFiles.joined(separator: ", ")) does not belong to \(store.owner), whose the store is",
                "sudo chown \(store.owner): \(store.strangeFiles.joined(separator: " "))")
        }
        if let seconds = store.heldFor {
            return .failed(
                "\(size): another process kept the store locked for \(seconds) s, so nothing can be stored",
                "Who has it open: sudo apt install psmisc, then: sudo fuser -v \(store.path). A backup that does not lock it: saker-server backup make DIRECTORY"
            )
        }
        if let maximum = store.maximumBytes, store.bytes > maximum / 10 * 9 {
            return .warning(
                "\(size) of at most \(Quantity.bytes(maximum)): at the limit the server refuses points",
                "Raise maximum_bytes in [store], or delete entities")
        }
        if store.schema < store.knownSchema {
            return .warning(
                "\(size): this program makes schema \(store.knownSchema) of it at its next start",
                "Make a backup before: saker-server backup make DIRECTORY")
        }
        guard store.problems != nil else {
            return .warning(
                "\(size): the check of the file did not end in time",
                "Check all of it: sudo systemctl stop saker-server; saker-server serve --check")
        }
        return .ok(size + ", no error found")
    }
}
