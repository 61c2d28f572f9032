import ArgumentParser
import ConfigurationFile
import DirectoryAccess
import Glibc
import SecureLink
import Terminal

/// `saker image`
struct ImageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image", abstract: "Makes the disk of this vehicle an image for many.",
        subcommands: [ImagePrepareCommand.self])
}

/// `saker image prepare`
struct ImagePrepareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare",
        abstract: "Removes everything that makes this computer one vehicle, before its disk is copied.",
        discussion: """
            Removes points, settings, alarms, configuration, certificate, key and secrets of the agent, the machine id, and
            the host keys of SSH. Stops the agent, and nothing else. Leaves /etc/saker/enroll.token: with it each copy
            enrols itself at its first start (saker-enroll.service).

            Where agent.toml names other directories than /var/lib/saker and /var/lib/saker/cache, only the agent's own files
            go from them. The command shows every path before it asks.

            Shut the computer down afterwards: a start makes another machine id.

            Examples:
              sudo saker image prepare
              sudo saker image prepare --root /mnt/image --yes     an image that is mounted there
            """)

    @Option(
        name: .long, help: ArgumentHelp("Prepare the system below this directory, not this one.", valueName: "path"))
    var root: String?

    @Flag(name: .long, help: "Keep the host keys of SSH.")
    var keepSsh = false

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    func run() async throws {
        var root = root ?? ""
        while root.hasSuffix("/") { root.removeLast() }
        guard root.isEmpty || access(root + "/etc", X_OK) == 0 else {
            throw CommandFailure(.usage, "\(root.printable) is no root of a system: there is no directory etc in it")
        }
        guard self.root == nil || !root.isEmpty else {
            throw CommandFailure(.usage, "--root / is this system: leave out --root")
        }
        guard !root.isEmpty || geteuid() == 0 else {
            throw CommandFailure(.failed, "only root may do this: sudo saker image prepare")
        }
        let plan = try Self.plan(root, keepingHostKeys: keepSsh)
        try ask(root, plan)
        if root.isEmpty { try await AgentUnit.stop() }
        try clean(root, plan)
        let enrols = try AgentUnit.enableEnrolment(below: root)
        tellWhatIsLeft(root, enrols: enrols)
    }

    /// The agent's own directories and files, as the configurations name them. Throws when one cannot be read: what it names
    /// would stay.
    private static func plan(_ root: String, keepingHostKeys: Bool) throws(CommandFailure) -> ImagePlan {
        var (cache, state) = (OwnFiles.cache.directory, OwnFiles.state.directory)
        var named: [String] = []
        if var agent = try reader(root, DeviceFiles.configuration) {
            cache = agent.string("cache", "directory", default: cache)
            state = agent.string("state", "directory", default: state)
            for key in ["client_certificate", "client_key", "client_key_pin_file"] {
                named += [agent.optionalString("server", key)].compactMap(\.self)
            }
            for key in ["ak_file", "app_code_file"] {
                named += [agent.optionalString("service", key)].compactMap(\.self)
            }
        }
        if var client = try reader(root, "client.toml") {
            for key in ["ak_file", "app_code_file"] {
                named += [client.optionalString("server", key)].compactMap(\.self)
            }
        }
        return ImagePlan(
            cache: normal(cache), state: normal(state), named: named.compactMap(path), keepingHostKeys: keepingHostKeys)
    }

    private static func reader(_ root: String, _ name: String) throws(CommandFailure) -> ConfigurationReader? {
        let path = "\(VehicleDirectory.system)/\(name)"
        do throws(ConfigurationError) {
            guard !root.isEmpty else {
                return FileStatus(of: path) == nil ? nil : try ConfigurationReader(path: path)
            }
            let descriptor: Int32
            do throws(FileTrouble) {
                descriptor = try DirectoryHandle.open(path, below: root)
            } catch {
                guard error.number != ENOENT else { return nil }
                throw ConfigurationError(.unreadable, file: root + path, error.reason)
            }
            defer { close(descriptor) }
            return try ConfigurationReader(descriptor: descriptor, path: root + path)
        } catch {
            throw CommandFailure(
                .failed,
                "nothing was removed, because \(error.detail): the keys that it names would stay. Correct or remove it")
        }
    }

    /// Where a file is that a configuration names, in the system that is prepared; nil for a key in a token.
    private static func path(_ given: String) -> String? {
        var given = given[...]
        if given.hasPrefix("file:") { given = given.dropFirst("file:".count) }
        if case .store = TLSClientOptions.PrivateKey(parsing: String(given)) { return nil }
        while given.hasPrefix("//") { given.removeFirst() }
        return given.hasPrefix("/") ? String(given) : "\(VehicleDirectory.system)/\(given)"
    }

    /// `/var//lib/saker/` is the default too.
    private static func normal(_ directory: String) -> String {
        "/" + directory.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }

    private func ask(_ root: String, _ plan: ImagePlan) throws(CommandFailure) {
        guard !yes else { return }
        Output.print("This removes from \(root.isEmpty ? "this computer" : root):")
        for part in plan.parts {
            Output.print("  \(part.what):")
            for path in part.paths { Output.print("    \(root)\(path)") }
        }
        guard Console.asksTerminal else {
            throw CommandFailure(.usage, "nobody can answer here: give --yes")
        }
        Output.ask("Type yes to go on: ")
        guard readLine()?.trimmed.lowercased() == "yes" else { throw CommandFailure(.failed, "nothing was removed") }
    }

    private func clean(_ root: String, _ plan: ImagePlan) throws(CommandFailure) {
        var cleaner = ImageCleaner(root: root)
        for part in plan.parts {
            let count = part.steps.reduce(0) { $0 + cleaner.run($1) }
            Output.print("Removed \(part.what): \(count) files")
        }
        sync()
        guard cleaner.failures.isEmpty else {
            throw CommandFailure(
                .failed, "these are left, and must not be in the image: " + cleaner.failures.joined(separator: "; "))
        }
    }

    private func tellWhatIsLeft(_ root: String, enrols: Bool) {
        let token = "\(root)\(VehicleDirectory.system)/enroll.token"
        Output.print("")
        Output.print(
            DirectoryHandle.hasFile("\(VehicleDirectory.system)/enroll.token", below: root)
                ? "\(token) stays: each copy enrols itself with it at its first start."
                : "\(token) is missing. Put the line of saker-server token create there (mode 600), and each copy enrols itself."
        )
        if !enrols {
            Output.print(
                "But there is no saker-enroll.service, so no copy does: install the agent, and prepare the image again."
            )
        }
        if !keepSsh, DirectoryHandle.hasFile("/etc/ssh/sshd_config", below: root) {
            Output.print(
                "sshd needs new host keys at the first start. Debian makes none by itself: let a unit run ssh-keygen -A before "
                    + "ssh.service.")
        }
        if root.isEmpty { Output.print("Now shut down, and copy the disk: sudo systemctl poweroff") }
    }
}
