import ArgumentParser
import ServerRuntime
import Terminal
import TrackModel

/// `saker-server backup`
struct Backups: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copies of everything that a server needs, made while it runs.",
        discussion: """
            A backup is a directory: the store as it was at one moment, the configuration, certificates and keys, and a list \
            with the sum of each file. It holds secrets: keep it where nobody else reads.

            Examples:
              sudo -u saker-server saker-server backup make /srv/backup/2026-11-23
              saker-server backup check /srv/backup/2026-11-23
              saker-server backup restore /srv/backup/2026-11-23
            """,
        subcommands: [Make.self, Check.self, Restore.self])

    struct Make: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a backup in a new directory, and checks it.",
            discussion: """
                The server may run: it goes on storing points, and its log beside the store grows until the copy is made.
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The directory to make; its parent exists.")
        var directory: String

        func run() async throws {
            let backup = Backup(try file.load(), at: directory)
            let shown = ShownProgress.of {
                backup.progress.map { copied, store in
                    copied < store
                        ? "copying the store: \(BackupText.share(copied, of: store))"
                        : "checking the copy: \(Quantity.bytes(store))"
                }
            }
            defer { shown.cancel() }
            let made = try backup.make()
            shown.cancel()
            await shown.value
            Output.print(
                "\(made.directory): the store (\(Quantity.bytes(made.storeBytes)), schema \(made.schema)), checked")
            Output.print(BackupText.newest(made.newestReceived))
            Output.pairs(made.files)
            for reason in made.missing { Output.print("NOT in the backup: \(reason)") }
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reads all of a backup, and says whether it is still what was written.")

        @Argument(help: "The directory of the backup.")
        var directory: String

        func run() async throws {
            let progress = BackupProgress()
            let shown = ShownProgress.of { BackupText.read(progress) }
            defer { shown.cancel() }
            let found = try BackupCheck.run(directory, progress)
            shown.cancel()
            await shown.value
            Output.print(
                "\(directory): made \(found.made) by \(found.program); the store (\(Quantity.bytes(found.storeBytes)), "
                    + "schema \(found.schema)) and \(found.files) files are as they were written")
            Output.print(BackupText.newest(found.newestReceived))
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Puts the files of a backup back where they were.",
            discussion: """
                The server must not run. Each file goes where the configuration in the backup names it. All of the backup is checked before anything is touched. What is there stays, unless \
                --replace is given. Vehicles go on by themselves; points that the server had acknowledged after the backup was \
                made are lost.
                """)

        @Argument(help: "The directory of the backup.")
        var directory: String
        @Flag(help: "Only the store: configuration and certificates stay as they are.")
        var storeOnly = false
        @Flag(help: "Move what is there aside.")
        var replace = false
        @Option(
            help: ArgumentHelp(
                "For root, with a backup that other users can change: a directory of root in which its files may be put. /etc/saker and "
                    + "the directories of the server's user are known. Repeat for more.", valueName: "directory"))
        var into: [String] = []

        func run() async throws {
            let progress = BackupProgress()
            let shown = ShownProgress.of { BackupText.read(progress) }
            defer { shown.cancel() }
            let done = try Restoration(
                directory, isStoreOnly: storeOnly, isReplacing: replace, into: into, progress: progress
            ).run()
            shown.cancel()
            await shown.value
            for path in done.movedAside { Output.print("moved aside: \(path)") }
            for path in done.same { Output.print("same:        \(path)") }
            for path in done.files + [done.store] { Output.print("restored:    \(path)") }
            for (path, from, to) in done.narrowed { Output.print("mode \(to), not \(from): \(path)") }
            for path in done.left {
                Output.print("left out:    \(path), which does not outlive a restart: put it where it came from")
            }
            Output.print("Next: saker-server doctor, then start the server.")
        }
    }
}

/// How far a backup is, on a terminal.
private enum ShownProgress {
    /// Looks five times a second, beside the thread that works; nil: there is nothing to tell yet.
    static func of(_ look: @escaping @Sendable () -> String?) -> Task<Void, Never> {
        Task.detached {
            let line = ProgressLine()
            while !Task.isCancelled {
                if let text = look() { line.show(text) }
                try? await Task.sleep(for: .milliseconds(200))
            }
            line.clear()
        }
    }
}

private enum BackupText {
    static func share(_ done: Int64, of whole: Int64) -> String {
        "\(Quantity.bytes(done)) of \(Quantity.bytes(whole)), \(whole > 0 ? done * 100 / whole : 100) %"
    }

    /// Nil before it is known how much there is to read.
    static func read(_ progress: BackupProgress) -> String? {
        let (bytes, whole) = progress.read
        guard whole > 0 else { return nil }
        return bytes < whole
            ? "reading the backup: \(share(bytes, of: whole))"
            : "looking at the store: \(Quantity.bytes(whole)) are read"
    }

    static func newest(_ received: Timestamp?) -> String {
        received.map { "Its newest points were received at \(TimeText.universal($0))." } ?? "It has no points."
    }
}
