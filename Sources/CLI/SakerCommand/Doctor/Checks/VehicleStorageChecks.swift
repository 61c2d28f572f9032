import AgentControl
import Diagnosing
import Terminal

/// The disk, what the cache has of it, and who may write there.
enum VehicleStorageChecks {
    /// Bytes: the ring takes its disk in pieces of 1 MiB, and others want some too.
    private static let fewBytes: Int64 = 32 << 20
    /// Percent of the cache's limit.
    private static let nearlyFull: Int64 = 80

    static func disk(_ facts: Facts) -> Finding {
        let directory = facts.disk?.directory ?? facts.status?.cache.directory
        let found = facts.disk.map {
            "\($0.directory): \(Quantity.bytes($0.free)) of \(Quantity.bytes($0.total)) free"
        }
        if let cache = facts.status?.cache, cache.state == .memory {
            let reason = cache.lastError ?? "the disk refuses writes"
            return .failed(
                "points are in memory only, and a power cut loses them: \(reason)" + (found.map { "; \($0)" } ?? ""),
                remedy(facts, directory, for: reason))
        }
        if let remembered = facts.status?.remembered, remembered.state == .failing {
            let reason = remembered.lastError ?? "the disk refuses writes"
            return .failed(
                "what the agent was told last is not on the disk, and a restart may forget it: \(reason)"
                    + (found.map { "; \($0)" } ?? ""),
                remedy(facts, directory, for: reason))
        }
        if let trouble = facts.status?.fences.flatMap(trouble) {
            return .failed(
                trouble + (found.map { "; \($0)" } ?? ""),
                remedy(facts, directory, for: trouble))
        }
        if let damaged = facts.status?.alarms?.damaged, damaged > 0 {
            return .warning(
                "\(Quantity.count(damaged, "record")) of the alarm journal damaged, and alarms in them lost"
                    + (found.map { "; \($0)" } ?? ""),
                "The agent goes on with the others. Errors of the medium: sudo dmesg | grep -i error")
        }
        guard let disk = facts.disk, let found else {
            return .notChecked(
                directory.map { "\($0) cannot be looked at" } ?? "where the cache is, is not known")
        }
        if disk.isReadOnly { return .failed("\(found), mounted read-only", remedy(disk, directory)) }
        if disk.free < fewBytes { return .warning(found, remedy(disk, directory)) }
        if let cache = facts.status?.cache, let limit = cache.limit, limit > disk.free.addingCapped(cache.bytes) {
            return .warning(
                "\(found), less than the cache may take (\(Quantity.bytes(limit)))",
                "saker settings cache-limit \(max(disk.free.addingCapped(cache.bytes) / (2 << 20), 2))MiB, or free some: "
                    + "df -h \(disk.directory)")
        }
        return .ok(found)
    }

    /// What of the vehicle's own fences is not on the disk.
    private static func trouble(_ fences: FencesStatus) -> String? {
        if fences.remembered.state == .failing {
            let reason = fences.remembered.lastError ?? "the disk refuses writes"
            return "the last changes of local fences are not on the disk, and a restart may forget them: \(reason)"
        }
        guard let error = fences.lastError else { return nil }
        return
            "\(Quantity.count(fences.waiting, "alarm")) of local fences not on the disk, and a restart may forget them: "
            + error
    }

    /// The file that stands where the agent needs a directory.
    private static func obstacle(_ facts: Facts) -> String? {
        facts.files.first { $0.role == .writable && $0.found == .inTheWay }?.path
    }

    private static func wayOut(_ path: String) -> String {
        "A file is in the way. Move it: sudo mv \(path) \(path).old. The agent then goes on by itself within a minute"
    }

    /// What helps against a disk that refuses for a reason.
    private static func remedy(_ facts: Facts, _ directory: String?, for reason: String) -> String {
        if let path = obstacle(facts) { return wayOut(path) }
        // A folder that is the agent's may have files that another user has made, as a program that root ran by hand.
        if reason.contains("EACCES"), let file = facts.files.first(where: { $0.role == .writable }),
            let user = file.agentUser
        {
            return
                "Files there are another user's: sudo chown -R \(user) \(file.path). The agent then goes on by itself within a "
                + "minute"
        }
        return remedy(facts.disk, directory)
    }

    private static func remedy(_ disk: VehicleDiskFacts?, _ directory: String?) -> String {
        let place = directory ?? "/var/lib/saker/cache"
        if disk?.isReadOnly == true {
            return "sudo mount -o remount,rw \"$(findmnt -no TARGET -T \(place))\". It became so by itself? "
                + "sudo dmesg | grep -i error"
        }
        return "Free some space: df -h \(place); df -i \(place). Errors of the medium: sudo dmesg | grep -i error"
    }

    static func cache(_ facts: Facts) -> Finding {
        guard let status = facts.status else { return .notChecked("the agent cannot be asked") }
        let cache = status.cache
        var found = "\(Quantity.count(cache.points, "point")) not acknowledged"
        if cache.points > 0, let first = cache.firstTime { found += ", since \(LocalTime.text(first))" }
        let percent = cache.limit.map { cache.bytes.clampedPercent(of: $0) }
        if let limit = cache.limit, let percent {
            found += ", \(percent) % of \(Quantity.bytes(limit))"
            let isLosing = (status.counters.lost["bound"] ?? 0) > 0
            if let room = CacheView.room(
                cache, now: status.time, isOnline: status.link.state == .online, isLosing: isLosing)
            {
                found += "; \(room)"
            }
        }
        let lost = status.counters.lost.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        if !lost.isEmpty {
            let list = lost.map { "\($0.key) \(Quantity.count($0.value))" }.joined(separator: ", ")
            return .warning(
                "\(found); lost since the agent started: \(list)",
                lost.contains { $0.key == "bound" }
                    ? "For more room next time: saker settings cache-limit 1GiB"
                    : "See why: journalctl -u sakerd -p warning")
        }
        if let percent, percent >= nearlyFull, status.link.state != .online {
            return .warning(
                found,
                "Bring the vehicle online (see the checks above), or: saker settings cache-limit 1GiB")
        }
        return .ok(found)
    }

    static func permissions(_ facts: Facts) -> Finding {
        if let path = obstacle(facts) {
            return .failed("\(path) is a file, and the agent needs a directory there", wayOut(path))
        }
        for file in facts.files {
            guard case .mode(let mode, let owner, let group) = file.found else { continue }
            switch file.role {
            case .writable:
                guard let user = file.agentUser, user != 0 else { continue }
                if owner != user {
                    return .failed(
                        "\(file.path) belongs to user \(owner), the agent runs as user \(user)",
                        "sudo chown -R \(user) \(file.path)")
                }
                if mode & 0o700 != 0o700 {
                    return .failed(
                        "\(file.path) has mode \(octal(mode)): the agent may not write there",
                        "sudo chmod u+rwx \(file.path)")
                }
            case .readable:
                guard let user = file.agentUser, user != 0, owner != user else { continue }
                let isOpen = mode & 0o004 != 0 || mode & 0o040 != 0 && group == file.agentGroup
                guard !isOpen else { continue }
                return .failed(
                    "\(file.path) has owner \(owner), group \(group) and mode \(octal(mode)): the agent, user \(user), may not "
                        + "read it",
                    "sudo chgrp saker \(file.path) && sudo chmod 0640 \(file.path)")
            case .credential where mode & 0o007 != 0:
                return .warning(
                    "\(file.path) holds a secret and has mode \(octal(mode)): every user has access to it",
                    "sudo chmod o-rwx \(file.path)")
            case .credential, .socket: continue
            }
        }
        if let hidden = facts.files.first(where: { $0.found == .hidden && $0.role != .socket }) {
            return .notChecked("\(facts.user.name) may not look at \(hidden.path)", "sudo saker doctor")
        }
        let seen = facts.files.filter { $0.found != .missing && $0.role != .socket }
        guard !seen.isEmpty else { return .notChecked("there is no file of the agent to check") }
        return .ok(seen.map(\.path).joined(separator: ", "))
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension Int64 {
    fileprivate func addingCapped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
