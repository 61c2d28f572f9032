import Diagnosing
import Glibc

/// Asks this machine: systemd, the user who runs the command, files, disk.
enum MachineProbe {
    /// Nil where systemd does not run the machine.
    static func unit() async -> UnitFacts? {
        guard access("/run/systemd/system", F_OK) == 0,
            let answer = await CommandProbe.run([
                "systemctl", "show", "sakerd.service", "--property=LoadState,ActiveState,Result,NRestarts",
            ]), answer.status == 0
        else { return nil }
        var values: [Substring: String] = [:]
        for line in answer.text.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            values[line[..<equals]] = String(line[line.index(after: equals)...])
        }
        return UnitFacts(
            load: values["LoadState"] ?? "unknown", active: values["ActiveState"] ?? "unknown",
            result: values["Result"] ?? "unknown", restarts: values["NRestarts"].flatMap { Int($0) } ?? 0)
    }

    /// The path of sakerd: beside this program, or else in the usual folders.
    static func agentProgram() -> String? {
        var own = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &own, own.count - 1)
        let path = String(decoding: own.prefix(max(0, length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let beside = path.lastIndex(of: "/").map { String(path[..<$0]) }
        return ([beside].compactMap(\.self) + ["/usr/local/bin", "/usr/bin", "/usr/local/sbin", "/usr/sbin"])
            .map { "\($0)/sakerd" }.first { access($0, X_OK) == 0 }
    }

    static func user() -> UserFacts {
        let user = geteuid()
        let entry = getpwuid(user)
        let name = entry.flatMap { $0.pointee.pw_name.map { String(cString: $0) } } ?? "user \(user)"
        var isInGroup = false
        if let group = getgrnam("saker"), var member = group.pointee.gr_mem {
            while let text = member.pointee {
                if String(cString: text) == name { isInGroup = true }
                member += 1
            }
        }
        return UserFacts(name: name, isRoot: user == 0, isInGroup: isInGroup)
    }

    /// Serial ports that receivers are usually on.
    static func serialPorts() -> [String] {
        guard let directory = opendir("/dev") else { return [] }
        defer { closedir(directory) }
        var found: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if ["ttyACM", "ttyUSB", "ttyAMA", "gps"].contains(where: name.hasPrefix) { found.append("/dev/\(name)") }
        }
        return Array(found.sorted().prefix(8))
    }

    static func disk(_ directory: String) -> VehicleDiskFacts? {
        guard let space = DiskSpace(of: directory) else { return nil }
        return VehicleDiskFacts(
            directory: directory, free: space.free, total: space.total, isReadOnly: space.isReadOnly)
    }

    static func file(_ path: String, _ role: FileFacts.Role, agentUser: UInt32?) -> FileFacts {
        var facts = stat()
        var path = path
        let found: FileFacts.Found
        if stat(path, &facts) == 0 {
            let kind = facts.st_mode & S_IFMT
            let isInTheWay = role == .writable && kind != S_IFDIR || role == .socket && kind != S_IFSOCK
            found = isInTheWay ? .inTheWay : .mode(facts.st_mode & 0o7777, owner: facts.st_uid, group: facts.st_gid)
        } else if errno == ENOTDIR, let obstacle = obstacle(on: path) {
            path = obstacle
            found = .inTheWay
        } else {
            found = errno == EACCES ? .hidden : .missing
        }
        let group = agentUser.flatMap { getpwuid($0)?.pointee.pw_gid }
        return FileFacts(path: path, role: role, found: found, agentUser: agentUser, agentGroup: group)
    }

    /// The first part of a path that is no directory.
    private static func obstacle(on path: String) -> String? {
        var prefix = ""
        for name in path.split(separator: "/") {
            prefix += "/\(name)"
            var facts = stat()
            guard stat(prefix, &facts) == 0 else { return nil }
            if facts.st_mode & S_IFMT != S_IFDIR { return prefix }
        }
        return nil
    }

    /// The owner of the agent's socket, else the user that the unit runs it as.
    static func agentUser(socket: String, configurationPath: String) -> UInt32? {
        var facts = stat()
        if stat(socket, &facts) == 0 { return facts.st_uid }
        guard configurationPath == ConfigurationProbe.systemPath else { return nil }
        return getpwnam("saker")?.pointee.pw_uid
    }
}

/// Asks another program of this machine.
enum CommandProbe {
    private static let milliseconds: Int64 = 4000
    private static let maximumBytes = 65_536

    struct Answer: Hashable, Sendable {
        var status: Int32
        /// Standard output and error together.
        var text: String
    }

    /// Nil when it cannot be run or does not end in time.
    static func run(_ command: [String]) async -> Answer? {
        let answer = await Deadline.run(seconds: milliseconds / 1000 + 1) { () -> Answer? in
            guard let child = try? ChildProcess.start(command, mergingErrors: true) else { return nil }
            defer { close(child.output) }
            guard let bytes = read(child.output) else {
                child.end()
                return nil
            }
            return Answer(status: child.wait(), text: String(decoding: bytes, as: UTF8.self))
        }
        return answer ?? nil
    }

    /// Everything up to its end; nil when the end does not come in time, or after too much.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= maximumBytes {
            let left = (end - ContinuousClock.now) / .milliseconds(1)
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&waiting, 1, Int32(left)) > 0 else { return nil }
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
        return nil
    }
}
