import Testing

@testable import ConfigurationFile

/// A tree as one line, keys sorted, so that expectations are readable.
private func flat(_ node: TOMLNode) -> String {
    switch node {
    case .string(let text): TOMLText.quoted(text)
    case .integer(let value): String(value)
    case .double(let value): String(value)
    case .boolean(let value): String(value)
    case .array(let items, _): "[" + items.map(flat).joined(separator: ",") + "]"
    case .table(let entries, _):
        "{" + entries.sorted { $0.key < $1.key }.map { "\($0.key):\(flat($0.value))" }.joined(separator: ",") + "}"
    case .date: "date"
    }
}

@Suite("TOML")
struct TOMLDocumentTests {
    @Test(arguments: [
        ("", "{}"),
        ("# only a comment", "{}"),
        ("a = 1 # c\r\nb = 2\r\n", "{a:1,b:2}"),
        ("a = +1_000\nb = -0\nc = 0xdead_BEEF\nd = 0o17\ne = 0b101", "{a:1000,b:0,c:3735928559,d:15,e:5}"),
        ("a = 1.5\nb = -2e3\nc = 6.02E+2\nd = inf\ne = -inf\nf = nan", "{a:1.5,b:-2000.0,c:602.0,d:inf,e:-inf,f:nan}"),
        ("a = true\nb=false", "{a:true,b:false}"),
        (
            "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.5\nc = 07:32:00\nd = 1979-05-27",
            "{a:date,b:date,c:date,d:date}"
        ),
        ("a = \"\\t\\\"\\\\\\u00e9\\U0001F600\"", "{a:\"\\t\\\"\\\\é😀\"}"),
        ("a = 'C:\\x'", "{a:\"C:\\\\x\"}"),
        ("a = \"\"\"\nx\\\n   y \"\"z\"\"\"\"\"", "{a:\"xy \\\"\\\"z\\\"\\\"\"}"),
        ("a = '''\nx\ny'''''", "{a:\"x\\ny''\"}"),
        ("a = [1, [2,], # c ]\n  \"x\",\n]", "{a:[1,[2],\"x\"]}"),
        ("a = { b.c = 1, d = [] }", "{a:{b:{c:1},d:[]}}"),
        ("a.b.c = 1\na.d = 2\n\"x y\".'z' = 3", "{a:{b:{c:1},d:2},x y:{z:3}}"),
        ("[a.b]\nx = 1\n[a]\ny = 2\n[ q . \"r\" ]", "{a:{b:{x:1},y:2},q:{r:{}}}"),
        ("[[p]]\nn = 1\n[p.s]\nm = 2\n[[p]]\nn = 3", "{p:[{n:1,s:{m:2}},{n:3}]}"),
        ("1 = 2\n-_ = 3", "{-_:3,1:2}"),
    ])
    func validTextsAreRead(text: String, expected: String) throws {
        #expect(flat(.table(try TOMLDocument(text, path: "a").root, .header)) == expected)
    }

    @Test(arguments: [
        "a = ", "a", "a = 1 b = 2", "= 1", "a = 01", "a = 1_", "a = _1", "a = 1__0", "a = 1.", "a = .5", "a = 1e",
        "a = 0x",
        "a = 0x-1", "a = 99999999999999999999", "a = yes", "a = \"\\q\"", "a = \"\\u12\"", "a = \"\\u0000\"",
        "a = \"\\uD800\"",
        "a = \"x", "a = 'x", "a = \"\"\"x", "a = '''x", "a = \"x\ny\"", "a = \"\u{1}\"", "a = [1", "a = [1 2]",
        "a = [,]",
        "a = [1,,2]", "a = {x = 1", "a = {x = 1,}", "a = {x = 1, x = 2}", "a = { x\n= 1 }", "a = 1\na = 2",
        "a = 1\na.b = 2",
        "a = {}\na.b = 1", "a = {}\n[a.b]", "[a]\n[a]", "[a]\nb = 1\n[a.b]", "a = []\n[[a]]", "[[a]]\n[a]",
        "[a]\n[[a]]",
        "[a.b.c]\nz = 9\n[a]\nb.c.t = 1", "[", "[]", "[.a]", "[a.]", "[a", "[a]]", "[[a]", "[ = ]", "[é]", "[\n]",
        "[a] x = 1", "\0",
        String(repeating: "[", count: 100) + "a", "a = " + String(repeating: "[", count: 10_000),
    ])
    func brokenTextsAreRefusedWithALine(text: String) {
        #expect {
            _ = try TOMLDocument(text, path: "a")
        } throws: { error in
            let error = error as? ConfigurationError
            return error?.code == .syntax && error?.problems.first?.line != nil
        }
    }

    @Test func aByteOrderMarkIsSkippedAtTheBeginningAlone() throws {
        #expect(flat(.table(try TOMLDocument("\u{FEFF}a = 1\n[b]\n", path: "a").root, .header)) == "{a:1,b:{}}")
        #expect(throws: ConfigurationError.self) { try TOMLDocument("a = 1\n\u{FEFF}b = 2", path: "a") }
    }

    /// Each text takes seconds when a key costs more in a larger table. The results show that all was read.
    @Test func largeTablesAndListsAreRead() throws {
        let count = 40_000
        let keys = (0..<count).map { "k\($0) = 1" }
        let table = try TOMLDocument("[t]\n" + keys.joined(separator: "\n"), path: "a")
        guard case .table(let entries, _)? = table.root["t"] else { throw Missing() }
        #expect(entries.count == count && table.line(of: ["t", "k\(count - 1)"]) == count + 1)
        let dotted = try TOMLDocument((0..<count).map { "a.b.k\($0) = 1" }.joined(separator: "\n"), path: "a")
        guard case .table(let a, _)? = dotted.root["a"], case .table(let b, _)? = a["b"] else { throw Missing() }
        #expect(b.count == count && dotted.line(of: ["a", "b", "k7"]) == 8)
        let inline = try TOMLDocument("i = { " + keys.map { "x." + $0 }.joined(separator: ", ") + " }", path: "a")
        guard case .table(let i, _)? = inline.root["i"], case .table(let x, _)? = i["x"] else { throw Missing() }
        #expect(x.count == count)
        let list = try TOMLDocument(String(repeating: "[[l]]\n", count: count), path: "a")
        guard case .array(let items, _)? = list.root["l"] else { throw Missing() }
        #expect(items.count == count)
    }

    private struct Missing: Error {}

    @Test func aKeyOfTooManyPartsIsRefused() throws {
        let most = Array(repeating: "a", count: 32).joined(separator: ".")
        #expect(throws: Never.self) { try TOMLDocument("\(most) = 1\n[b.\(most.dropLast(2))]", path: "a") }
        for text in ["\(most).a = 1", "[\(most).a]", String(repeating: "a.", count: 40_000)] {
            let error = #expect(throws: ConfigurationError.self) { try TOMLDocument(text, path: "a") }
            #expect(error?.detail.contains("over 32 parts") == true, "\(error?.detail ?? "")")
        }
    }

    @Test func everyKeyHasItsLine() throws {
        let text = "a = \"\"\"\r\n[x]\r\nb = 1\r\n\"\"\"\r\n\"c d\".e = 1\r\n[ t . \"u\" ]\r\nf = { g = 1 }\r\n"
        let document = try TOMLDocument(text, path: "a")
        #expect(document.line(of: ["a"]) == 1)
        #expect(document.line(of: ["b"]) == nil)
        #expect(document.line(of: ["c d", "e"]) == 5)
        #expect(document.line(of: ["t", "u"]) == 6)
        #expect(document.line(of: ["t", "u", "f", "g"]) == 7)
    }

    @Test func randomTextsNeverCrashTheReader() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let pieces = [
            "[", "]", "a", "b", ".", "=", " ", "\"", "'", "\"\"\"", "'''", "\n", "\r\n", "#", "1", "-", "_", "\\", "é",
            "{", "}",
            ",", ":", "0x", "e", "\\u", "1979-05-27",
        ]
        var accepted = 0
        for _ in 0..<5000 {
            let text = (0..<next(30)).map { _ in pieces[next(pieces.count)] }.joined()
            if (try? TOMLDocument(text, path: "a")) != nil { accepted += 1 }
        }
        #expect(accepted > 0)
    }
}
