import Foundation
import ProgramTestKit
import Testing
import TrackStore

@testable import ServerRuntime

/// The commands with which an operator changes what a server has, from outside.
@Suite("The administration", .timeLimit(.minutes(5)))
struct AdministrationProgramTests {
    private let directory: TemporaryDirectory
    private var home: String { directory.path + "/server" }
    private var configuration: String { home + "/server.toml" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func anAppCodeIsSetListedAndCleared() async throws {
        let made = try await run(serverPath, ["init", "--directory", home, "--host", "127.0.0.1"])
        try #require(made.status == 0, "\(made.errors)")
        func set(_ code: String, _ arguments: String...) async throws -> ProcessResult {
            try code.write(toFile: home + "/code", atomically: true, encoding: .utf8)
            let words = ["service", "set-app-code", "--config", configuration, "1"] + arguments
            return try await run(
                "sh", ["-c", "exec \"$0\" \"$@\" <\"$CODE\"", serverPath] + words, ["CODE": home + "/code"])
        }
        func list() async throws -> String {
            try await sakerServer("service", "list", "--config", configuration).output
        }
        #expect(try await set("com.example;A1\n").status == 0)
        #expect(try await list().contains("Fleet  app code\n"))
        for wrong in ["", "\n", "a\u{7}b\n", String(repeating: "x", count: 257) + "\n"] {
            #expect(try await set(wrong).status == 2, "\(wrong)")
        }
        #expect(try await list().contains("app code"))
        #expect(try await set("", "--clear").status == 0)
        #expect(try await !list().contains("app code"))
        let words = ["service", "set-app-code", "--config", configuration, "9", "--clear"]
        #expect(try await run(serverPath, words).status == 1)
    }

    // MARK: names

    @Test func aServiceHasAVisibleName() async throws {
        let made = try await run(serverPath, ["init", "--directory", home, "--host", "127.0.0.1"])
        try #require(made.status == 0, "\(made.errors)")
        for name in ["Buses ", "\u{A0}Buses", "Bu\u{200B}ses", "Buses\u{FE0F}", "Buses\u{FFFC}", "Bu\nses"] {
            for words in [["create", name], ["rename", "1", name]] {
                let result = try await run(serverPath, ["service"] + words + ["--config", configuration])
                #expect(result.status == 2 && result.errors.contains("a service's name"), "\(words) \(result)")
            }
        }
        #expect(try await sakerServer("service", "create", "公交 7", "--config", configuration).status == 0)
    }

    // MARK: push

    @Test func theListOfPushesFitsTheTerminal() async throws {
        let made = try await run(serverPath, ["init", "--directory", home, "--host", "127.0.0.1"])
        try #require(made.status == 0, "\(made.errors)")
        let text = String(repeating: "call-the-office-", count: 25)
        let end = ["--config", configuration]
        let store = try await StoreFactory.openForCommand(try ServerConfiguration.load(path: configuration).store).store
        let service = try #require(try await store.services().first?.id)
        try await store.addEntity(NewEntity(name: "van"), in: service, at: SystemClock.now())
        try await store.close()
        #expect(try await run(serverPath, ["push", "send", "1", "--all", "--text", text] + end).status == 0)
        for columns in [40, 60, 80, 120, 200] {
            let list = try await run(serverPath, ["push", "list", "1"] + end, ["COLUMNS": "\(columns)"])
            let lines = list.output.split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= columns } && lines.count < 12, "\(columns): \(list.output)")
            #expect(list.output.contains("--wide") && list.output.contains("van"))
            #expect(list.output.contains("{\"text\":\""), "\(list.output)")
        }
        for more in [["--wide"], ["--json"]] {
            let list = try await run(serverPath, ["push", "list", "1"] + more + end, ["COLUMNS": "80"])
            #expect(list.output.contains(text))
        }
    }

    // MARK: column

    @Test func columnsAreAddedListedAndDeleted() async throws {
        let made = try await run(serverPath, ["init", "--directory", home, "--host", "127.0.0.1"])
        try #require(made.status == 0, "\(made.errors)")
        func column(_ arguments: String...) async throws -> ProcessResult {
            try await run(serverPath, ["column"] + arguments + ["--config", configuration])
        }
        #expect(try await column("add", "1", "fuel", "double", "--description", "litres").status == 0)
        #expect(try await column("add", "1", "door", "int").output == "Service 1: track column door, int\n")
        #expect(try await column("add", "1", "team", "--kind", "entity", "--search").status == 0)
        #expect(
            try await column("list", "1").output
                == "KEY   TYPE    SEARCH  DESCRIPTION\ndoor  int\nfuel  double          litres\n")
        #expect(
            try await column("list", "1", "--kind", "entity").output
                == "KEY   TYPE    SEARCH  DESCRIPTION\nteam  string  yes\n")
        let twice = try await column("add", "1", "fuel", "string")
        #expect(twice.status == 1)
        #expect(twice.errors.contains("already"))
        for wrong in [
            ["add", "1", "speed", "double"], ["add", "1", "a b", "int"], ["add", "1", "x"], ["add", "1", "x", "float"],
            ["add", "1", "x", "int", "--kind", "entity"], ["add", "1", "x", "int", "--search"],
        ] {
            let result = try await run(serverPath, ["column"] + wrong + ["--config", configuration])
            #expect(result.status == 2, "\(wrong)")
            #expect(!result.errors.isEmpty && result.output.isEmpty)
        }
        #expect(try await column("list", "7").status == 1)
        #expect(try await column("delete", "1", "fuel").status == 0)
        #expect(try await column("delete", "1", "fuel").status == 1)
        #expect(try await column("list", "1").output == "KEY   TYPE  SEARCH  DESCRIPTION\ndoor  int\n")
    }

    // MARK: fence, district

    @Test func districtsAreImportedListedAndRemoved() async throws {
        let made = try await run(serverPath, ["init", "--directory", home, "--host", "127.0.0.1"])
        try #require(made.status == 0, "\(made.errors)")
        func server(_ arguments: String...) async throws -> ProcessResult {
            try await run(serverPath, arguments + ["--config", configuration])
        }
        let path = directory.path + "/world.geojson"
        let square = #"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}"#
        let features = ["Chile", ""].map {
            #"{"type":"Feature","properties":{"name":"\#($0)"},"geometry":\#(square)}"#
        }
        try #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#.write(
            toFile: path, atomically: true, encoding: .utf8)
        let imported = try await server("district", "import", path)
        #expect(imported.status == 0)
        #expect(
            imported.output
                == "Source world: 1 districts are imported, 1 features refused, 0 earlier districts replaced\n")
        // Where no journald is, the note for it is here too.
        let errors = imported.errors.split(separator: "\n").filter { !$0.contains("an administrator has changed") }
        #expect(errors == ["refused: \(path), feature 2: it has no name in the column 'name'"])
        #expect(
            try await server("district", "list", "chile").output
                == "ID  SOURCE  DISTRICT\n 1  world   Chile\n")
        #expect(try await server("district", "list", "Peru").status == 1)
        #expect(try await server("district", "import", path + "x").status == 1)
        #expect(try await server("district", "import").status == 2)
        #expect(try await server("district", "remove", "word").errors.contains("the sources are world"))
        #expect(try await server("district", "remove", "world").status == 0)
        #expect(try await server("district", "list").output == "ID  SOURCE  DISTRICT\n")
        let empty = try await server("fence", "list", "1")
        #expect(empty.output == "NUMBER  NAME  SHAPE  TELLS  WATCHES  GROUP  CHANGED\n", "\(empty.errors)")
        #expect(
            try await server("fence", "export", "1").output == "{\"type\":\"FeatureCollection\",\"features\":[]}\n")
        let yards = directory.path + "/yards.geojson"
        try #"{"type":"Feature","properties":{"radius":50},"geometry":{"type":"Point","coordinates":[4.3,52.1]}}"#
            .write(toFile: yards, atomically: true, encoding: .utf8)
        let both = try await server("fence", "import", "1", yards, "--watch", "van", "--watch-everyone")
        #expect(both.status == 2, "\(both.errors)")
        let fences = try await server("fence", "import", "1", yards, "--dry-run")
        #expect(
            fences.output == "Fences: 1 new, 0 changed, 0 unchanged, 0 removed (nothing is stored)\n",
            "\(fences.errors)")
        #expect(fences.errors.contains("1 fence of them watches nobody"), "\(fences.errors)")
        #expect(try await server("fence", "show", "1", "1").status == 1)
        #expect(try await server("fence", "list", "1", "--limit", "0").status == 2)
        #expect(
            try await server("fence", "alarms", "1").output
                == "HAPPENED  ENTITY  ACTION  NAME  FENCE  STATE  RECEIVED\n")
        #expect(try await server("fence", "alarms", "1", "--stale", "--hours", "0").status == 2)
        #expect(try await server("fence", "alarms", "7").status == 1)
    }
}
