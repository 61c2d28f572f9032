import Foundation
import Testing

/// README's table of the data a month: the bytes a point are those of the benchmarks, and the months follow from them.
@Suite struct ReadmeTableTests {
    /// Cells of the rows that begin with two intervals, as in `| 5 s / 30 s`.
    private static func rows(of file: String) throws -> [[String]] {
        try Repository.text(file).split(separator: "\n").filter { $0.contains(/^\| \d+ s \/ \d+ s/) }.map {
            $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private static func number(_ cell: String) throws -> Double {
        try #require(cell.firstMatch(of: /[0-9.]+/).flatMap { Double($0.0) }, "\(cell)")
    }

    @Test func theMonthsAreThoseOfTheMeasuredBytes() throws {
        let measured = try Self.rows(of: "docs/benchmarks.md")
        let rows = try Self.rows(of: "README.md")
        #expect(rows.count == 4)
        for row in rows {
            let intervals = row[0].replacing(" (default)", with: "")
            let source = try #require(measured.first { $0[0] == intervals }, "\(intervals) was not measured")
            let bytes = try Self.number(source[1])
            #expect(try Self.number(row[1]) == bytes, "\(intervals)")
            let gather = try Self.number(intervals)
            for (cell, seconds) in [(row[2], 30.0 * 86_400), (row[3], 22.0 * 8 * 3600)] {
                let megabytes = seconds / gather * bytes / 1e6
                #expect(
                    abs(try Self.number(cell) - megabytes) <= megabytes * 0.03, "\(intervals): \(cell), \(megabytes) MB"
                )
            }
        }
    }
}
