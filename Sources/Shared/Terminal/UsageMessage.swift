package import ArgumentParser

/// What ArgumentParser says about arguments. It quotes them as they are, so an argument with a line break would begin a line.
package enum UsageMessage {
    /// Several lines. `arguments`: without the program's name.
    package static func text<Root: ParsableCommand>(
        for error: any Error, of root: Root.Type, _ arguments: [String]
    ) -> String {
        let safe = arguments.map { TerminalText.safe($0) }
        guard safe != arguments else { return root.fullMessage(for: error) }
        do {
            _ = try root.parseAsRoot(safe)
        } catch let other where root.exitCode(for: other) == root.exitCode(for: error) {
            return root.fullMessage(for: other)
        } catch {}
        // The arguments are well, and the command itself has refused something.
        return TerminalText.safe(root.fullMessage(for: error))
    }
}

/// A command whose arguments are names, which may be any texts.
package protocol TakesNames {}

/// Finds a mistyped name of a command, which ArgumentParser takes for an argument of another one.
package enum UnknownCommand {
    /// A sentence when the arguments name a command that there is not; nil when they do not.
    package static func problem(_ arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = [root._commandName]
        // What follows this word is a command in any case.
        let isAskedAbout = arguments.first == "help"
        for argument in isAskedAbout ? arguments.dropFirst() : arguments[...] {
            let configuration = command.configuration
            let children = configuration.subcommands
            guard !children.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return nil }
            if let child = children.first(where: { names(of: $0).contains(argument) }) {
                command = child
                path.append(child._commandName)
                continue
            }
            // What is no command may be an argument of the one that needs no name, as in `saker entity van_07`.
            if !isAskedAbout, path.count > 1, let usual = configuration.defaultSubcommand {
                guard !(usual is any TakesNames.Type), Int64(argument) == nil else { return nil }
            }
            let place = path.joined(separator: " ")
            let near = children.flatMap(names).filter { distance($0, argument) <= 2 }.sorted().first
            let advice = near.map { "Did you mean '\(place) \($0)'?" } ?? "All commands: \(place) --help"
            return "there is no command '\(place) \(TerminalText.safe(String(argument.prefix(40))))'. \(advice)"
        }
        return nil
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }

    /// Characters to add, to remove or to replace.
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.prefix(40)), Array(right.prefix(40)))
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var next = [index + 1]
            for (other, candidate) in right.enumerated() {
                next.append(min(row[other] + (character == candidate ? 0 : 1), row[other + 1] + 1, next[other] + 1))
            }
            row = next
        }
        return row[right.count]
    }
}
