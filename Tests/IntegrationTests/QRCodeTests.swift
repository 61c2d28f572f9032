import Foundation
import ProgramTestKit
import Testing

/// What the QR code of a token says, read by a program that knows nothing of it.
@Suite(.serialized, .timeLimit(.minutes(60))) struct QRCodeTests {
    /// The picture of a code in a terminal: each character is two modules, one above the other.
    private func image(_ rows: [Substring]) throws -> String {
        let scale = 6
        var lines: [[Int]] = []
        for row in rows {
            let cells = try row.map { character in
                switch character {
                case " ": (0, 0)
                case "▀": (1, 0)
                case "▄": (0, 1)
                case "█": (1, 1)
                default: throw Trouble("a character that is no module: \(character)")
                }
            }
            lines += [cells.map(\.0), cells.map(\.1)]
        }
        let width = try require(lines.map(\.count).max(), "no code")
        try require(lines.allSatisfy { $0.count == width }, "the rows differ in length")
        var text = "P2\n\(width * scale) \(lines.count * scale)\n255\n"
        for line in lines {
            let row = line.flatMap { Array(repeating: $0 == 1 ? "255" : "0", count: scale) }.joined(separator: " ")
            for _ in 0..<scale { text += row + "\n" }
        }
        return text
    }

    @Test(.needs(.qrencode, .zbarimg)) func theCodeSaysTheLine() throws {
        let fleet = try Fleet()
        let created = try Program.run(
            Built.path("saker-server"),
            ["token", "create", "--config", fleet.server + "/server.toml", "1", "--uses", "10000", "--qr"])
        try require(created.status == 0, created.all)
        // Colours make the dark modules dark on every terminal.
        let lines = created.output.replacing(/\u{1B}\[[0-9;]*m/, with: "").split(separator: "\n")
        let line = try require(lines.first { $0.hasPrefix("saker2:") }, created.all)
        let blocks = lines.filter { $0.contains("█") }
        let first = try require(lines.firstIndex { $0.contains("█") }, created.all)
        let last = try require(lines.lastIndex { $0.contains("█") }, created.all)
        #expect(last - first + 1 == blocks.count)
        let file = fleet.directory.file("code.pgm")
        try image(Array(lines[first...last])).write(toFile: file, atomically: true, encoding: .utf8)
        let read = try Program.run("/usr/bin/env", ["zbarimg", "--quiet", "--raw", "--set", "test-inverted", file])
        #expect(read.output.trimmingCharacters(in: .whitespacesAndNewlines) == line, "\(read.all)")
        // It fits a terminal of 80 columns.
        #expect(blocks.allSatisfy { $0.count <= 80 })
    }
}
