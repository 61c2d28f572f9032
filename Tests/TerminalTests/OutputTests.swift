import ArgumentParser
import Foundation
import Testing

@testable import Terminal

@Suite struct OutputTests {
    /// Every scalar that Unicode calls a control, a format, a line or a paragraph separator, except the two joiners, which scripts need.
    /// So is every letter and mark that Unicode's fonts may ignore, except the variants of signs.
    @Test func nothingThatControlsATerminalIsShown() {
        var kept: [Unicode.Scalar] = []
        for value in (0...0x10FFFF as ClosedRange<UInt32>) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator:
                #expect(TerminalText.safe("a\(scalar)b") == "a?b", "\(value)")
            case .format:
                if TerminalText.safe(String(scalar)) != "?" { kept.append(scalar) }
            // Blocks of characters without width have gaps.
            case .unassigned:
                let isNone = (0xFDD0...0xFDEF).contains(value) || value & 0xFFFE == 0xFFFE
                #expect(!isNone || TerminalText.safe("a\(scalar)b") == "a?b", "\(value)")
            case _ where [0xFFFC, 0x16FE4, 0x1D159].contains(value):
                #expect(TerminalText.safe("a\(scalar)b") == "a?b", "\(value)")
            case _ where scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isVariationSelector,
                _ where scalar == "\u{2800}" || (0x180B...0x180F).contains(value):
                #expect(TerminalText.safe("a\(scalar)b").unicodeScalars.elementsEqual("a?b".unicodeScalars), "\(value)")
            default:
                #expect(TerminalText.safe(String(scalar)).unicodeScalars.elementsEqual([scalar]), "\(value)")
            }
        }
        // Signs that stand before Arabic, Syriac and Kaithi numbers and hieroglyphs are seen.
        let seen: [ClosedRange<UInt32>] = [
            0x0600...0x0605, 0x06DD...0x06DD, 0x070F...0x070F, 0x0890...0x0891, 0x08E2...0x08E2, 0x110BD...0x110BD,
            0x110CD...0x110CD, 0x13430...0x1343F, 0x200C...0x200D,
        ]
        #expect(kept.allSatisfy { scalar in seen.contains { $0.contains(scalar.value) } }, "\(kept.map(\.value))")
    }

    @Test func jsonSaysTheSameWithEscapes() throws {
        let name = "a\u{202E}b\u{7F}c\u{2028}d\u{E0041}e\u{9B}31mf\u{2066}"
        let json = "{\n\"name\":\"\(name)\"}"
        let safe = TerminalText.safeJSON(json)
        #expect(TerminalText.safeLines(safe) == safe)
        let read = try JSONSerialization.jsonObject(with: Data(safe.utf8)) as? [String: String]
        #expect(read?["name"].map { Array($0.unicodeScalars) } == Array(name.unicodeScalars))
    }

    @Test func onlyTheProgramBreaksLines() {
        #expect(TerminalText.safe("bus\nDevice 7 is revoked\r\u{1B}[2J") == "bus?Device 7 is revoked??[2J")
        #expect(TerminalText.safeLines("one\ntwo\u{1B}]0;x\u{7}\n") == "one\ntwo?]0;x?\n")
    }

    private struct Command: ParsableCommand {
        @Argument var number: Int
        @Option var name: String?

        func validate() throws {
            if number == 7 { throw ValidationError("no \(name ?? "")") }
        }
    }

    /// ArgumentParser quotes arguments.
    @Test(arguments: [
        ["9\nroot"], ["7", "--name=a\nroot"], ["7", "--name", "a\nroot"], ["1", "--x\nroot"], ["1", "2\u{2028}\nroot"],
    ])
    func anArgumentBeginsNoLine(arguments: [String]) throws {
        let error = #expect(throws: (any Error).self) { try Command.parseAsRoot(arguments) }
        let shown = TerminalText.safeLines(
            UsageMessage.text(for: try #require(error), of: Command.self, arguments))
        #expect(shown.split(separator: "\n").allSatisfy { !$0.hasPrefix("root") }, "\(shown)")
        #expect(shown.contains("?root"), "\(shown)")
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every way to a standard stream in the sources of all programs. A new one is a reviewed change of this list.
    @Test func everyTextOfTheProgramsGoesThroughOutput() throws {
        let ways = [
            #"(?<![\w.`])print\("#, #"Swift\.print\("#, "STDOUT_FILENO", "STDERR_FILENO", "fputs", "fwrite", "putchar",
            #"\bstdout\b"#, #"\bstderr\b"#, #"FileHandle\.standard"#, #"Output\.styled\("#,
            #"/dev/(stdout|stderr|tty)\b"#, #"/proc/self/fd/"#, #"\b(fputc|putc|puts|d?v?f?printf|perror|psignal)\("#,
            #"\b(debugPrint|dump)\("#, #"\.exit\(withError"#, #"CleanExit"#, #"FileDescriptor\.standard"#,
            #"(?<![\w.])write\([12], "#, #"Output\.(print|complain)\(text:"#,
            #"(fatalError|preconditionFailure)\(.*\\\("#,
        ]
        let known: [String: Set<String>] = [
            // `TerminalSize` asks for the width of the terminal; the line of progress is made safe, and drawn with control
            // sequences.
            "Sources/Shared/Terminal/Output.swift": ["STDOUT_FILENO", "STDERR_FILENO"],
            // It asks for the width of the terminal, or whether there is one.
            "Sources/CLI/SakerCommand/Console.swift": ["STDOUT_FILENO"],
            // A file that is put in front of a head later.
            "Sources/CLI/SakerCommand/Server/TrackExportCommand.swift": ["fwrite"],
            // The drawing makes each line safe; the bar is numbers and a name that is made safe.
            "Sources/CLI/SakerCommand/Agent/StatusCommand.swift": [#"Output\.styled\("#],
            "Sources/CLI/SakerCommand/Points/ImportCommand.swift": [#"Output\.styled\("#],
            // The number of a descriptor, for a child process and for a file that is written there through `Output`.
            "Sources/CLI/SakerCommand/Agent/ChildProcess.swift": ["STDOUT_FILENO", "STDERR_FILENO"],
            "Sources/Shared/FenceCommands/OutputFile.swift": ["STDOUT_FILENO"],
            // Several lines: help, and what `UsageMessage` has made of arguments; errors whose texts are one line each; a certificate in
            // base64; the configuration of the server's own file; a track whose lines are made safe.
            "Sources/CLI/SakerCommand/Saker.swift": [#"Output\.(print|complain)\(text:"#],
            "Sources/Server/saker-server/Main.swift": [#"Output\.(print|complain)\(text:"#],
            "Sources/Server/saker-server/DeviceCommands.swift": [#"Output\.(print|complain)\(text:"#],
            "Sources/CLI/SakerCommand/Server/TrackCommand.swift": [#"Output\.(print|complain)\(text:"#],
            // The agent's own lines: help, and `say` and `complain`, which make each line safe.
            "Sources/Agent/AgentRuntime/Process/AgentProcess.swift": [#"(?<![\w.`])print\("#, "STDERR_FILENO"],
            // Logs, which have their own escapes.
            "Sources/Shared/Systemd/SystemLog.swift": ["STDERR_FILENO"],
            "Sources/Shared/Systemd/ReadableLogHandler.swift": ["STDERR_FILENO"],
            // A function of OpenSSL that prints into memory.
            "Sources/Shared/SecureLink/ServerVerification.swift": [#"(?<![\w.`])print\("#],
        ]
        var files = 0
        for folder in ["Sources/Agent", "Sources/CLI", "Sources/Server", "Sources/Shared", "Sources/Vehicle"] {
            let names = try FileManager.default.subpathsOfDirectory(atPath: Self.root.path + "/" + folder)
            for name in names where name.hasSuffix(".swift") {
                let path = folder + "/" + name
                let code = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
                    .split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
                files += 1
                for way in ways where code.range(of: way, options: .regularExpression) != nil {
                    // The function itself.
                    if path.hasSuffix("Terminal/Output.swift"), way.contains("print") { continue }
                    #expect(known[path]?.contains(way) == true, "\(path) has \(way): write through Output")
                }
            }
        }
        #expect(files > 600)
    }
}
