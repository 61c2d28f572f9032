import JSON
import ProgramTestKit
import Testing

@testable import FenceFiles

@Suite struct WhereTests {
    private let attributes: [String: JSONValue] = [
        "Name": "Depot_1", "kind": "yard", "area": 12.5, "floor": 3, "note": .null, "open": true, "名称": "仓库",
        "built": "2026-03-05", "seen": "2026-03-05T08:20:12.250+08:00", "a b": "x", "It's": "o'clock",
        "big": 9_007_199_254_740_993,
        "date": "2020-01-01", "list": [1, 2],
    ]

    /// `true`, `false`, `unknown`, or the error.
    private func judged(_ clause: String, _ attributes: [String: JSONValue]? = nil) -> String {
        do {
            let truth = try WhereClause(clause).truth(of: attributes ?? self.attributes)
            return truth.map { "\($0)" } ?? "unknown"
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("1=1", true), ("1 = 2", false), ("kind = 'yard'", true), ("KIND='yard'", true), ("kind = 'Yard'", false),
        ("\"Name\" = 'Depot_1'", true), ("\"name\" = 'Depot_1'", true), ("'yard' = kind", true),
        ("kind <> 'yard'", false), ("kind != 'gate'", true),
        ("area < 12.5", false), ("area <= 12.5", true), ("area > 12", true), ("area >= 12.6", false),
        ("floor = 3.0", true),
        ("floor = 3e0", true), ("floor > -1", true), ("floor = +3", true), ("area = 12.50", true), ("area < .5", false),
        ("floor < 3.5", true),
        ("floor BETWEEN 1 AND 3", true), ("floor NOT BETWEEN 1 AND 3", false), ("floor between 4 and 1", false),
        ("kind BETWEEN 'a' AND 'z'", true),
        ("kind IN ('gate', 'yard')", true), ("floor NOT IN (1, 2)", true), ("floor in (-3, 3.0)", true),
        ("kind LIKE 'y%'", true), ("kind LIKE 'Y%'", false), ("kind LIKE '_ar_'", true), ("kind LIKE '_ar'", false),
        ("kind LIKE '%'", true),
        ("kind NOT LIKE '%ar%d'", false), ("kind LIKE ''", false), ("名称 LIKE '_库'", true), ("名称 = '仓库'", true),
        ("note IS NULL", true), ("note IS NOT NULL", false), ("kind IS NOT NULL", true), ("missing IS NULL", true),
        ("NOT kind = 'gate'", true), ("NOT NOT 1 = 1", true), ("NOT (1 = 1 OR 1 = 1)", false),
        ("1=1 OR 1=2 AND 1=2", true), ("(1=1 OR 1=2) AND 1=2", false), ("NOT 1=2 AND 1=2", false),
        ("note = 1 OR 1=1", true), ("note = 1 AND 1=2", false), ("note IN (1) OR 1=1", true),
        ("\"a b\" = 'x'", true), ("\"It's\" = 'o''clock'", true), ("open = 1", true), ("list = '[1,2]'", true),
        ("built = DATE '2026-03-05'", true), ("built < DATE '2026-03-06'", true), ("DATE '2026-03-04' < built", true),
        ("seen = TIMESTAMP '2026-03-05 00:20:12.25'", true), ("seen > TIMESTAMP '2026-03-05T00:20:12Z'", true),
        ("seen BETWEEN DATE '2026-03-05' AND TIMESTAMP '2026-03-05 08:00'", true), ("date = '2020-01-01'", true),
        ("date < DATE '2020-02-29'", true),
        ("big = 9007199254740993", true), ("big = 9007199254740992", false), ("big > 9007199254740992.0", true),
        ("big < 1e300", true), ("big > -1e300", true), ("big = 9223372036854775808", false),
        ("'caf\u{E9}' = 'cafe\u{301}'", false), ("'caf\u{E9}' IN ('cafe\u{301}')", false),
        ("TIMESTAMP '2028-02-29 00:00' < DATE '2028-03-01'", true),
        ("kind\n=\t'yard'", true), ("kind>='yard'AND(1=1)", true),
    ]) func whatIsTrue(clause: String, truth: Bool) {
        #expect(judged(clause) == "\(truth)", "\(clause)")
    }

    @Test(arguments: [
        "note = 1", "note <> 1", "NOT note = 1", "missing LIKE 'a'", "missing NOT LIKE 'a'", "note IN (1, 2)",
        "note NOT IN (1)",
        "note BETWEEN 1 AND 2", "1 BETWEEN note AND 2", "note = note", "note = 1 AND 1=1", "note = 1 OR 1=2",
        "NOT (note = 1 OR 1=2)",
    ]) func whatIsUnknown(clause: String) {
        #expect(judged(clause) == "unknown", "\(clause)")
    }

    @Test func betweenIsTwoComparisons() {
        // False on one side is false, whatever the other side is.
        #expect(judged("5 BETWEEN note AND 2") == "false")
        #expect(judged("5 NOT BETWEEN note AND 2") == "true")
    }

    @Test(arguments: [
        ("", "the where clause is empty"), ("   ", "is empty"),
        ("kind", "character 5: the end stands where a comparison"),
        ("kind =", "character 7: the end stands where a column or a value"),
        ("kind = 'x", "character 8: the quote ' is not closed"),
        ("\"kind = 1", "character 1: the quote \" is not closed"),
        ("kind == 1", "character 7: '=' stands where a column"),
        ("kind = 1 AND", "character 13"), ("kind = 1 kind = 2", "character 10: 'kind' stands where AND, OR or the end"),
        ("(kind = 1", "character 10: the end stands where AND, OR or ')'"), ("kind = 1)", "character 9: ')' stands"),
        ("()", "character 2: ')' stands where a column"),
        ("kind = NULL", "character 8: NULL stands where a column or a value is expected; write IS NULL"),
        ("kind IS 1", "character 9: 1 stands where NULL or NOT NULL"), ("kind IS NOT 1", "where NULL is"),
        ("kind NOT 1", "BETWEEN, IN or LIKE"),
        ("kind BETWEEN 1", "where AND"), ("kind BETWEEN 1 OR 2", "character 16: 'OR' stands where AND"),
        ("kind IN 1", "where '('"),
        ("kind IN ()", "character 10"), ("kind IN (1", "where ',' or ')'"),
        ("kind IN (kind)", "character 10: a list after IN holds values, not columns"),
        ("kind LIKE 5", "character 11: 5 stands where a text in ''"), ("kind LIKE floor", "where a text"),
        ("kind LIKE 'a' ESCAPE '!'", "'ESCAPE' stands where AND"),
        ("kind ! 1", "character 6: '!' stands alone"), ("a * b = 1", "character 3: '*' is no part"),
        ("kind = 1; DROP TABLE x", "character 9: ';' is no part"),
        ("UPPER(kind) = 'A'", "character 6: '(' stands where a comparison"),
        ("kind = 1x", "character 8: '1' is no number"), ("kind = 1.2.3", "character 11"),
        ("kind = 1e", "character 8: '1e' is no number"), (". = 1", "is no number"),
        ("kind = -'a'", "character 9: the text 'a' stands where a number"),
        ("\"\" = 1", "a name in \"\" is empty"), ("NOT = 1", "character 5: '=' stands"),
        ("AND = 1", "AND stands where a column or a value is expected; a column of that name"),
        ("built = DATE '2026-02-30'", "character 14: '2026-02-30' is no such time: write DATE '2026-03-05'"),
        ("built = DATE '2026-02-29'", "is no such time"),
        ("built = DATE '2026-03-05 08:00'", "is no such time"), ("built = TIMESTAMP 'noon'", "write TIMESTAMP"),
        ("built = TIMESTAMP '2026-03-05 24:00'", "is no such time"), ("kind = \u{0}", "character 8"),
        ("a -- b", "character 3"), ("kind = 1e999", "is no number"),
    ]) func whatIsWrongIsExplained(clause: String, reason: String) {
        #expect(judged(clause).contains(reason), "\(clause): \(judged(clause))")
    }

    @Test(arguments: [
        ("kind = 5", "character 6: a text, 'yard', cannot be compared with a number, 5"),
        ("area < 'x'", "a number, 12.5, cannot be compared with a text"),
        ("kind IN ('a', 5)", "cannot be compared"),
        ("floor LIKE '3'", "character 7: LIKE compares texts, and 3 is a number"),
        ("kind = DATE '2026-03-05'", "cannot be compared with a time"),
        ("area = DATE '2026-03-05'", "cannot be compared with a time"), ("1 = 'a'", "cannot be compared"),
    ]) func whatCannotBeComparedIsAnError(clause: String, reason: String) {
        #expect(judged(clause).contains(reason), "\(judged(clause))")
    }

    @Test func namesThatDifferInCaseOnly() {
        let two: [String: JSONValue] = ["a": 1, "A": 2]
        #expect(judged("a = 1", two) == "true")
        #expect(judged("A = 2", two) == "true")
        #expect(judged("x = 1 OR É = 1", ["é": 1]) == "true")
        #expect(judged("ab = 1", ["aB": 1, "Ab": 2]).contains("may be any of Ab, aB"))
    }

    @Test func lengthAndDepthAreBounded() throws {
        let nested = { (depth: Int) in
            String(repeating: "(", count: depth) + "1=1" + String(repeating: ")", count: depth)
        }
        #expect(judged(nested(63)) == "true")
        #expect(judged(nested(64)).contains("character 65: more than 64 levels"))
        #expect(judged(String(repeating: "NOT ", count: 64) + "1=1").contains("more than 64 levels"))
        let chain = "1=1" + String(repeating: " AND 1=1", count: 1000)
        #expect(judged(chain) == "true")
        #expect(judged(chain + String(repeating: " ", count: 8192)).contains("at most 8192 bytes"))
        #expect(judged("kind LIKE '\(String(repeating: "%", count: 257))'").contains("more than 256 characters"))
        let hard = String(repeating: "%a", count: 128)
        #expect(
            judged("kind LIKE '\(hard)'", ["kind": .string(String(repeating: "a", count: 50_000) + "b")]) == "false")
        #expect(try WhereClause("b = 1 AND (a < 2 OR B IS NULL)").columns.map(\.name) == ["b", "a"])
    }

    // MARK: Against another evaluator

    /// A clause made by chance, as a tree that knows its text, and its truth by tables of Kleene's logic.
    private indirect enum Tree {
        case leaf(String, Int?)
        case not(Tree)
        case both(Tree, Tree)
        case either(Tree, Tree)

        /// 1, 0, or nil.
        var truth: Int? {
            switch self {
            case .leaf(_, let truth): truth
            case .not(let tree): tree.truth.map { 1 - $0 }
            case .both(let left, let right):
                [[0, 0, 0], [0, 1, nil], [0, nil, nil]][left.truth ?? 2][right.truth ?? 2]
            case .either(let left, let right):
                [[0, 1, nil], [1, 1, 1], [nil, 1, nil]][left.truth ?? 2][right.truth ?? 2]
            }
        }

        /// Precedence: 1 OR, 2 AND, 3 NOT.
        func text(_ outer: Int, _ random: inout Dice) -> String {
            let (text, own) =
                switch self {
                case .leaf(let text, _): (text, 4)
                case .not(let tree): ("NOT \(tree.text(3, &random))", 3)
                case .both(let left, let right): ("\(left.text(2, &random)) and \(right.text(2, &random))", 2)
                case .either(let left, let right): ("\(left.text(1, &random))\nOR \(right.text(1, &random))", 1)
                }
            return own < outer || random.one(in: 4) ? "(\(text))" : text
        }
    }

    private func leaf(_ random: inout Dice) -> Tree {
        let (column, value): (String, Int?) =
            [("a", 1), ("b", 2), ("C", 3), ("gone", nil)].randomElement(using: &random) ?? ("a", 1)
        let other = Int.random(in: 0...4, using: &random)
        func told(_ text: String, _ holds: (Int) -> Bool) -> Tree {
            .leaf("\(column) \(text)", value.map { holds($0) ? 1 : 0 })
        }
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return told("= \(other)") { $0 == other }
        case 1: return told("<> \(other).0") { $0 != other }
        case 2: return told("< \(other)") { $0 < other }
        case 3: return told(">= \(other)") { $0 >= other }
        case 4: return told("BETWEEN 2 AND \(other)") { $0 >= 2 && $0 <= other }
        case 5: return told("NOT IN (\(other), 2)") { $0 != other && $0 != 2 }
        case 6: return .leaf("\(column) IS NULL", value == nil ? 1 : 0)
        case 7: return .leaf("\(column) is not null", value == nil ? 0 : 1)
        default: return told("<= b") { $0 <= 2 }
        }
    }

    private func tree(_ depth: Int, _ random: inout Dice) -> Tree {
        guard depth > 0 else { return leaf(&random) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .not(tree(depth - 1, &random))
        case 1: return .both(tree(depth - 1, &random), tree(depth - 1, &random))
        case 2: return .either(tree(depth - 1, &random), tree(depth - 1, &random))
        default: return leaf(&random)
        }
    }

    @Test func anotherEvaluatorAgrees() throws {
        for seed in Dice.seeds(3000) {
            var random = Dice(seed: seed)
            let tree = tree(5, &random)
            let text = tree.text(1, &random)
            let found = try WhereClause(text).truth(of: ["a": 1, "b": 2, "c": 3, "gone": .null])
            #expect(found.map { $0 ? 1 : 0 } == tree.truth, "seed \(seed): \(text)")
        }
    }

    @Test func noTextCrashesTheParser() {
        let words = [
            "a", "(", ")", "NOT", "AND", "OR", "IN", "BETWEEN", "LIKE", "IS", "NULL", "=", "<", "!", "'", "\"", "'x'",
            "1", "-", ".", ",", "DATE", "é", "\0", "e5",
        ]
        var (clauses, mistakes) = (0, 0)
        // Some three of a thousand are clauses.
        for seed in Dice.seeds(12_000) {
            var random = Dice(seed: seed)
            let words = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                words.randomElement(using: &random) ?? ""
            }
            let text = words.joined(separator: random.one(in: 2) ? " " : "")
            let told = judged(text)
            if ["true", "false", "unknown"].contains(told) {
                clauses += 1
                continue
            }
            mistakes += 1
            // A person is told where to look.
            let place = told.firstMatch(of: /character ([0-9]+):/).flatMap { Int($0.1) }
            let isEmpty = text.allSatisfy { $0 == " " } && told.contains("the where clause is empty")
            #expect(
                isEmpty || place.map { (1...text.unicodeScalars.count + 1).contains($0) } == true,
                "seed \(seed): \(text): \(told)")
        }
        #expect(clauses > 0 && mistakes > 1000, "\(clauses) clauses, \(mistakes) mistakes")
    }
}
