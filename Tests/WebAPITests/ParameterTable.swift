import Foundation

@testable import WebAPI

/// The tables of docs/web-api-parameters.md.
struct ParameterTable {
    /// One row.
    struct Row: Sendable {
        /// Names of calls, in which `*` stands for any letters.
        let calls: [String]
        /// `*track columns*` stands for columns of that kind.
        let parameter: String
        /// How long the value may be; nil where the table says nothing.
        let bytes: Int?
        let verdict: Verdict
        let cases: [Case]

        func concerns(_ path: String) -> Bool {
            calls.contains { pattern in
                let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
                guard parts.count > 1, let first = parts.first, let last = parts.last else { return pattern == path }
                return path.count >= first.count + last.count && path.hasPrefix(first) && path.hasSuffix(last)
            }
        }
    }

    enum Verdict: String, Sendable {
        case obeyed, ours, ignored
    }

    /// A value and the status of a request that has it.
    struct Case: Sendable {
        /// Nil when the parameter is missing.
        let value: String?
        let status: Int64
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let rows: [Row]

    init(_ page: String) throws {
        rows = try page.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `") || line.hasPrefix("| *") else { return nil }
            let cells = line.dropFirst(2).replacing("\\|", with: "\u{0}").split(
                separator: "|", omittingEmptySubsequences: false
            ).map { String($0.replacing("\u{0}", with: "|")) }
            // The tables of keys and of limits have fewer columns.
            guard cells.count == 7 else { return nil }
            return try Self.row(cells, line)
        }
    }

    private static func row(_ cells: [String], _ line: Substring) throws -> Row {
        let calls = cells[0].matches(of: /`([^`]+)`/).map { String($0.1) }
        let names = cells[1].matches(of: /`(\w+)`|(\*\w+ columns\*)/).map { String($0.1 ?? $0.2 ?? "") }
        guard !calls.isEmpty, names.count == 1,
            let verdict = cells[4].firstMatch(of: /[a-z]+/).flatMap({ Verdict(rawValue: String($0.0)) })
        else { throw Failure(description: "not understood: \(line)") }
        return Row(
            calls: calls, parameter: names[0],
            bytes: Int(cells[2].filter { $0 != " " }), verdict: verdict, cases: try cases(cells[5], line))
    }

    private static func cases(_ cell: String, _ line: Substring) throws -> [Case] {
        var rest = Substring(cell).drop(while: \.isWhitespace)
        var cases: [Case] = []
        while !rest.isEmpty {
            guard let found = rest.prefixMatch(of: /(?:none|`([^`]*)`(?:×(\d+))?) (\d+)(?:, | *$)/),
                let status = Int64(found.3)
            else { throw Failure(description: "no value and status at “\(rest)”: \(line)") }
            let value = found.1.map { String(repeating: String($0), count: found.2.flatMap { Int($0) } ?? 1) }
            cases.append(Case(value: value, status: status))
            rest = rest[found.range.upperBound...]
        }
        return cases
    }
}
