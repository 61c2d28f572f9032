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
