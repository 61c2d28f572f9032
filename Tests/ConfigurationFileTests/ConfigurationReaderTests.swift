import Glibc
import Testing

@testable import ConfigurationFile

private enum Colour: String, CaseIterable {
    case red, green
}

private func problems(_ text: String, _ read: (inout ConfigurationReader) -> Void) -> [String] {
    do {
        var reader = try ConfigurationReader(text: text, path: "a.toml")
        read(&reader)
        _ = try reader.finish()
        return []
    } catch {
        return error.problems.map(\.description)
    }
}

@Suite("Reading a configuration")
struct ConfigurationReaderTests {
    @Test func givenValuesAreTakenAndMissingOnesAreDefaults() throws {
        var reader = try ConfigurationReader(
            text: """
                name = "top"
                [server]
                host = "h"
                port = 99
                [server.tls]
                strict = false
                factor = 2
                kinds = ["a", "b"]
                colour = "green"
                """, path: "a.toml")
        #expect(reader.string("", "name", default: "x") == "top")
        #expect(reader.requiredString("server", "host") == "h")
        #expect(reader.integer("server", "port", default: 1, range: 1...100) == 99)
        #expect(reader.integer("server", "retries", default: 3, range: 1...5) == 3)
        #expect(reader.optionalInteger("server", "limit", range: 1...5) == nil)
        #expect(reader.optionalString("server", "alias") == nil)
        #expect(reader.boolean("server.tls", "strict", default: true) == false)
        #expect(reader.number("server.tls", "factor", default: 1, range: 0...10) == 2)
        #expect(reader.strings("server.tls", "kinds", default: []) == ["a", "b"])
        #expect(reader.choice("server.tls", "colour", default: Colour.red) == .green)
        let effective = try reader.finish()
        #expect(effective.entries.filter(\.isDefault).map(\.key) == ["retries", "limit", "alias"])
    }

    @Test func ofManyUnknownKeysTheFirstAreToldAndTheOthersCounted() {
        let keys = (0..<20_000).map { "k\($0) = 1" }.joined(separator: "\n")
        let found = problems("[a]\n\(keys)\n[a.b]\nport = 70000\n") { reader in
            _ = reader.integer("a.b", "port", default: 1, range: 1...65535)
        }
        #expect(found.count == ConfigurationReader.maximumUnknown + 2)
        #expect(found.contains { $0.hasPrefix("a.toml:20003: port = 70000") })
        #expect(found.last == "a.toml: and \(20_000 - ConfigurationReader.maximumUnknown) more unknown keys and tables")
    }

    @Test(arguments: [
        "tracks.example.net", "tracks.example.net.", "localhost", "van_7", "x", "10.0.0.1", "::1", "fe80::1%eth0",
        "2001:db8::7", "xn--bcher-kva.example", "7bus.example", String(repeating: "a", count: 63),
    ])
    func namesAndAddressesAreHosts(_ host: String) {
        #expect(HostName.problem(with: host) == nil)
        #expect(problems("[a]\nhost = \"\(host)\"") { _ = $0.requiredHost("a", "host") } == [])
    }

    @Test(arguments: [
        ("https://x", "URL"), ("x:7443", "the port"), ("10.0.0.1:7443", "the port"), ("[::1]", "brackets"),
        ("a b", "letters, digits"), ("x/y", "letters, digits"), ("bücher.example", "xn--"), ("a..b", "1 to 63"),
        (".a", "1 to 63"), ("-a", "hyphens inside"), ("a-", "hyphens inside"), ("300.1.1.1", "IPv4"), ("1.2.3", "IPv4"),
        ("0x7f000001", "IPv4"), ("a.0X1", "IPv4"),
        ("12::34::56", "IPv6"), ("fe80::1%", "IPv6"), (String(repeating: "a", count: 64), "1 to 63"),
        (String(repeating: "a.", count: 130), "253"), ("a\u{0}b", "letters, digits"),
    ])
    func whatIsNoHostIsRefusedWithTheRule(_ host: String, _ rule: String) {
        #expect(HostName.problem(with: host)?.contains(rule) == true, "\(HostName.problem(with: host) ?? "taken")")
        // TOML has no NUL.
        guard !host.contains("\u{0}") else { return }
        let found = problems("[a]\nhost = \(TOMLText.quoted(host))") { reader in
            _ = reader.requiredHost("a", "host")
            _ = reader.optionalHost("a", "host")
            _ = reader.host("a", "host", default: "localhost")
        }
        #expect(
            found.count == 3 && found.allSatisfy { $0.hasPrefix("a.toml:2: host = ") && $0.contains(rule) }, "\(found)")
    }

    @Test func everyProblemIsReportedWithItsLineTheValueAndTheRule() {
        let found = problems(
            """
            # a comment
            [server]
            prot = 7
            port = 70000
            host = 4
            colour = "gren"
            kinds = [
              "a",  # ] in a comment
              3,
            ]
            factor = "x"

            [sevrer]
            a = 1
            """
        ) { reader in
            _ = reader.integer("server", "port", default: 1, range: 1...65535, unit: "s")
            _ = reader.requiredString("server", "host")
            _ = reader.choice("server", "colour", default: Colour.red)
            _ = reader.strings("server", "kinds", default: [])
            _ = reader.number("server", "factor", default: 1, range: 0...10)
            _ = reader.requiredString("server", "name", hint: "say who this is")
        }
        #expect(
            found == [
                "a.toml:2: name in [server] is missing: say who this is",
                "a.toml:3: unknown key prot in [server]: did you mean port?",
                "a.toml:4: port = 70000: it must be 1...65535 s",
                "a.toml:5: host = 4 is an integer: it must be a string in quotes",
                "a.toml:6: colour = \"gren\": it must be one of \"red\", \"green\" (did you mean \"green\"?)",
                "a.toml:7: kinds holds 3, an integer: it must be an array of strings",
                "a.toml:11: factor = \"x\" is a string: it must be a number, 0.0...10.0",
                "a.toml:13: unknown table [sevrer]: did you mean [server]?",
            ])
    }

    @Test func aKeyInTheWrongTableIsSentToItsHome() {
        let found = problems("[a]\nx = 1\nport = 2\n[b]\n") {
            _ = $0.integer("a", "x", default: 1, range: 0...9)
            _ = $0.integer("b", "port", default: 1, range: 0...9)
        }
        #expect(found == ["a.toml:3: unknown key port in [a]: it belongs into [b]"])
    }

    @Test func theValueOfAnUnknownKeyIsNotShown() {
        let found = problems("[a]\nakk = \"s3cret\"\n") { _ = $0.secret("a", "ak") }
        #expect(found == ["a.toml:2: unknown key akk in [a]: did you mean ak?"])
    }

    @Test func aValueThatShouldBeATableIsNamed() {
        #expect(
            problems("a = 1") { _ = $0.integer("a", "x", default: 1, range: 0...9) } == [
                "a.toml:1: a is an integer: it must be a table"
            ])
    }
}

@Suite("Secrets")
struct SecretTests {
    @Test func aSecretIsHiddenHoweverItIsPrinted() {
        struct Holder { let key = Secret("topsecret") }
        var dumped = ""
        dump(Holder(), to: &dumped)
        for text in ["\(Secret("topsecret"))", "\(Holder())", String(reflecting: Holder()), dumped] {
            #expect(!text.contains("topsecret"))
        }
    }

    @Test func theEffectiveConfigurationHidesSecretsAndMarksDefaults() throws {
        var reader = try ConfigurationReader(text: "top = 1\n[s]\nak = \"topsecret\"\n", path: "a.toml")
        #expect(reader.secret("s", "ak")?.revealed == "topsecret")
        _ = reader.integer("s", "n", default: 4, range: 1...9)
        _ = reader.integer("", "top", default: 4, range: 1...9)
        let toml = try reader.finish().toml
        #expect(
            toml == """
                top = 1

                [s]
                # ak_file is not set
                ak = "<hidden>"
                n = 4  # default

                """)
    }

    @Test func aSecretComesFromAFileAndAWorldReadableOneIsWarnedAbout() throws {
        try withTemporaryDirectory { directory in
            try AtomicFile.write(Array(" topsecret\n".utf8), to: "\(directory)/key", mode: 0o644)
            var reader = try ConfigurationReader(text: "[s]\nak_file = \"key\"", path: "\(directory)/a.toml")
            #expect(reader.secret("s", "ak")?.revealed == "topsecret")
            #expect(try reader.finish().warnings.count == 1)
        }
    }

    @Test func aMissingSecretFileAndTwoSourcesAreProblems() {
        let missing = problems("[s]\nak_file = \"/nowhere/key\"") { _ = $0.secret("s", "ak") }
        #expect(missing == ["a.toml:2: ak_file: /nowhere/key: does not exist"])
        let both = problems("[s]\nak = \"x\"\nak_file = \"y\"") { _ = $0.secret("s", "ak") }
        #expect(both == ["a.toml:3: ak and ak_file are both given: keep one"])
        let wrong = problems("[s]\nak = 12345") { _ = $0.secret("s", "ak") }
        #expect(wrong == ["a.toml:2: ak is an integer: it must be a string in quotes"])
    }
}

@Suite("Files")
struct FileTests {
    @Test func aMissingFileADirectoryAndForeignBytesAreNamed() throws {
        func message(_ path: String) -> String {
            do {
                _ = try ConfigurationReader(path: path)
                return ""
            } catch { return "\(error)" }
        }
        #expect(message("/nowhere/a.toml") == "/nowhere/a.toml: does not exist")
        #expect(message("/tmp") == "/tmp: is a directory, not a file")
        try withTemporaryDirectory { directory in
            try AtomicFile.write([0xFF, 0xFE], to: "\(directory)/a.toml", mode: 0o600)
            #expect(message("\(directory)/a.toml").hasSuffix("is not UTF-8"))
        }
    }

    @Test func aWrittenFileHasItsModeAndReplacingIsAChoice() throws {
        try withTemporaryDirectory { directory in
            let path = "\(directory)/f"
            try AtomicFile.write(Array("one".utf8), to: path, mode: 0o640)
            try AtomicFile.write(Array("two".utf8), to: path, mode: 0o600)
            #expect(throws: ConfigurationError(.exists, file: path, "")) {
                try AtomicFile.write(Array("three".utf8), to: path, mode: 0o600, replacing: false)
            }
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            #expect(try FileReading.bytes(of: path, limit: 10).0 == Array("two".utf8))
            #expect(throws: ConfigurationError(.unwritable, file: path, "")) {
                try AtomicFile.write([], to: "\(directory)/none/f", mode: 0o600)
            }
            #expect(try entries(of: directory) == ["f"])
        }
    }
}

func entries(of directory: String) throws -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
}

func withTemporaryDirectory(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/saker-configuration-XXXXXX".utf8CString)
    let path = try #require(mkdtemp(&template).map { String(cString: $0) })
    defer {
        for name in (try? entries(of: path)) ?? [] { unlink("\(path)/\(name)") }
        rmdir(path)
    }
    try body(path)
}
