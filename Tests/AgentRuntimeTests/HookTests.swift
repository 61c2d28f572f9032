import Foundation
import NIOCore
import NIOPosix
import ProgramTestKit
import Testing

@testable import AgentRuntime

/// Real programs in a real directory.
@Suite(.timeLimit(.minutes(5))) final class HookTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "saker-hooks-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try mode(folder, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func mode(_ path: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// Another process writes the file. Were it this one, a child that another test starts meanwhile would have it open for writing
    /// for a moment, and nobody can run a program that somebody writes.
    private func write(_ name: String, _ text: String, _ permissions: Int = 0o755) throws {
        try Program.succeed("sh", "-c", "printf %s \"$1\" >\"$2\"", "sh", text, "\(folder)/\(name)")
        try mode("\(folder)/\(name)", permissions)
    }

    private func list() -> HookDirectory.Listing { HookDirectory(path: folder, user: geteuid()).list() }

    private func run(
        _ name: String, input: String = "{}\n", limit: Int64 = 20_000, running: RunningHooks = RunningHooks()
    ) -> HookProcess.Outcome {
        HookProcess(
            path: "\(folder)/\(name)", environment: ["PATH=/usr/bin:/bin", "SAKER_EVENT=alarm"],
            input: Array(input.utf8), limit: limit, running: running
        ).run()
    }

    // MARK: Directory

    @Test func executablesAreHooksInTheOrderOfTheirNames() throws {
        for name in ["20-b", "10-a.sh", "Z", "a"] { try write(name, "#!/bin/sh\n") }
        try write("README", "not executable", 0o644)
        try write(".hidden", "#!/bin/sh\n")
        try write("a~", "#!/bin/sh\n")
        try FileManager.default.createDirectory(atPath: folder + "/directory", withIntermediateDirectories: true)
        #expect(list() == .init(hooks: ["10-a.sh", "20-b", "Z", "a"]))
    }

    @Test func whatOthersMayChangeIsRefusedAndSaid() throws {
        try write("good", "#!/bin/sh\n")
        try write("group", "#!/bin/sh\n", 0o775)
        try write("world", "#!/bin/sh\n", 0o757)
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "/bin/true")
        let listing = list()
        #expect(listing.hooks == ["good"])
        #expect(listing.refusals.count == 3)
        #expect(listing.refusals.contains { $0.contains("chmod go-w \(folder)/world") })
        #expect(listing.refusals.contains { $0.contains("symbolic link") })
        try mode(folder, 0o777)
        #expect(list().hooks == [])
        #expect(list().refusals.first?.contains("chmod go-w \(folder)") == true)
    }

    @Test func aDirectoryThatIsNotThereHasNoHooksAndAFileIsRefused() throws {
        #expect(HookDirectory(path: folder + "/missing", user: 0).list() == .init())
        try write("file", "x")
        #expect(HookDirectory(path: folder + "/file", user: 0).list().refusals.count == 1)
    }

    @Test(.needs(.root))
    func anotherUsersProgramIsRefused() throws {
        try write("theirs", "#!/bin/sh\n")
        try #require(chown(folder + "/theirs", 12345, 0) == 0)
        #expect(list().hooks == [])
        #expect(list().refusals.first?.contains("belongs to user 12345") == true)
    }

    // MARK: Processes

    @Test func aHookGetsTheEventAndNothingElseOfTheAgent() throws {
        // Ours, open and not closed in children on purpose.
        let open = Glibc.open(folder, O_RDONLY)
        let high = fcntl(open, F_DUPFD, 77)
        defer {
            close(open)
            close(high)
        }
        setenv("SAKER_TEST_SECRET", "1", 1)
        defer { unsetenv("SAKER_TEST_SECRET") }
        try write(
            "look",
            """
            #!/bin/sh
            cat
            echo "event $SAKER_EVENT secret ${SAKER_TEST_SECRET:-none} in $(pwd)"
            echo /proc/$$/fd/*
            """)
        let outcome = run("look", input: "{\"kind\":\"alarm\"}\n")
        #expect(outcome.failure == nil)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.prefix(2) == ["{\"kind\":\"alarm\"}", "event alarm secret none in /"])
        // The shell itself has the directory open that it looks into, and its script at 10.
        let descriptors = (lines.last ?? "").split(separator: " ").compactMap {
            Int($0.split(separator: "/").last ?? "")
        }
        #expect(Set(descriptors).subtracting([3, 10]) == [0, 1, 2], "\(descriptors)")
    }

    @Test func aHookOfItsOwnGroupWithDefaultSignals() throws {
        signal(SIGPIPE, SIG_IGN)
        try write(
            "group",
            "#!/bin/sh\nread pid comm state parent group rest < /proc/$$/stat\necho $(($$ - group))\ngrep SigIgn /proc/$$/status\n"
        )
        let outcome = run("group")
        #expect(outcome.output.split(separator: "\n").first == "0")
        let ignored = try #require(UInt64(outcome.output.split(whereSeparator: \.isWhitespace).last ?? "", radix: 16))
        // The C library keeps signals 32 and 33 for itself.
        #expect(ignored & 0x7FFF_FFFF == 0, "\(outcome.output)")
    }

    @Test func failuresAreToldWithWhatWasPrinted() throws {
        try write("status", "#!/bin/sh\necho sorry >&2\nexit 3\n")
        #expect(run("status") == .init(failure: "it ended with status 3", output: "sorry"))
        try write("signal", "#!/bin/sh\nkill -9 $$\n")
        #expect(run("signal").failure == "it was ended by signal 9")
        try write("text", "no program at all\n")
        #expect(run("text").failure?.contains("#!/bin/sh") == true)
        #expect(run("missing").failure?.contains("cannot be started") == true)
    }

    @Test func outputIsCutAndNobodyWaitsForItsReader() throws {
        try write("talk", "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' 'x'\n")
        let outcome = run("talk")
        #expect(outcome.failure == nil)
        #expect(outcome.output.utf8.count == HookProcess.outputBytes)
    }

    @Test func anEventThatIsNotReadHarmsNobody() throws {
        try write("deaf", "#!/bin/sh\nexit 0\n")
        #expect(run("deaf", input: String(repeating: "x", count: 60_000)).failure == nil)
        #expect(run("deaf", input: String(repeating: "x", count: 200_000)).failure != nil)
    }

    @Test func whatTakesTooLongIsEndedWithAllItHasStarted() throws {
        let mark = folder + "/mark"
        try write(
            "slow", "#!/bin/sh\ntrap '' TERM\nsleep 1000 &\necho $! > \(mark)\nwait\nsleep 1000\n")
        // Long enough for a shell to begin on a busy machine.
        let outcome = run("slow", limit: 5000)
        #expect(outcome.failure?.contains("took longer") == true)
        let child = try #require(
            Int32(try String(contentsOfFile: mark, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
        // It is a child of nobody here: gone, or waiting for init to notice. On a busy machine it has a signal to die of, and
        // no turn yet.
        try waitUntil("the child of the hook ends", within: 120) {
            guard let state = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8) else { return true }
            return state.contains(") Z ") || !state.contains("sleep")
        }
    }

    @Test func whatAHookLeavesBehindEndsWithIt() throws {
        try write("daemon", "#!/bin/sh\nsleep 1000 &\necho started\n")
        #expect(run("daemon") == .init(failure: nil, output: "started"))
    }

    @Test func aStopEndsWhatRunsAndStartsNothingMore() async throws {
        try write("long", "#!/bin/sh\necho begun\nsleep 1000\n")
        let running = RunningHooks()
        let path = "\(folder)/long"
        let outcome = Task.detached {
            HookProcess(path: path, environment: [], input: [], limit: 3_600_000, running: running).run()
        }
        while running.isEmpty { await Task.yield() }
        running.stop()
        #expect(await outcome.value.failure == "it was ended by signal 9")
        #expect(run("long", running: running).failure?.contains("cannot be started") == true)
    }

    /// Nobody would end threads that begin after the end.
    @Test(arguments: [false, true], [false, true])
    func afterItsEndTheRunnerBeginsNothing(wasUsed: Bool, isRun: Bool) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let directory = HookDirectory(path: folder, user: geteuid())
        await #expect(throws: (any Error).self) {
            try await loop.flatSubmit {
                let runner = HookRunner(directory: directory, limit: 20_000, socket: "", concurrency: 1)
                if wasUsed { _ = runner.list(on: loop) }
                return runner.shutDown(on: loop).assumeIsolated().flatMap {
                    isRun
                        ? runner.run("x", kind: "alarm", input: [], on: loop).map { _ in }
                        : runner.list(on: loop).map { _ in }
                }.nonisolated()
            }.get()
        }
    }

    /// How many descriptors are of the kinds that hooks use. Other tests of this process open files and sockets.
    private func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { number in
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return file?.hasPrefix("pipe:") == true || file == "anon_inode:[pidfd]"
        }
    }

    @Test func noZombieAndNoDescriptorIsLeft() throws {
        try write("quick", "#!/bin/sh\ncat > /dev/null\n")
        _ = run("quick")
        let before = try descriptors()
        for _ in 0..<50 { #expect(run("quick").failure == nil) }
        #expect(try descriptors() <= before + 20)
        let own = "\(getpid())"
        for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") where Int(entry) != nil {
            guard let text = try? String(contentsOfFile: "/proc/\(entry)/stat", encoding: .utf8) else { continue }
            let fields = text.split(separator: " ")
            #expect(!(fields[1] == "(quick)" && fields[2] == "Z" && fields[3] == own), "\(text)")
        }
    }
}
