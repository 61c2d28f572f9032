import FenceJSON
import Foundation
import Geofencing
import Glibc
import JSON
import ProgramTestKit
import Testing

@testable import FenceCommands
@testable import SakerCommand

/// Imports into the agent and exports out of it.
@Suite(.timeLimit(.minutes(5))) struct FenceFileCommandTests {
    private static let done: ScriptedAgent.Answer = .reply([
        "received": 2, "done": true, "created": 1, "updated": 0, "unchanged": 0, "deleted": 0, "code": 0,
    ])

    /// A line of an export: a circle around 40, 116 of a feature.
    private func line(_ id: Int64, feature: String, radius: Double = 100, name: String = "Gate") -> String {
        let fence: JSONValue = [
            "id": .integer(id), "revision": 1, "created": 5, "modified": 6,
            "fence": [
                "name": .string(name), "watch": "#allentity",
                "shape": ["kind": "circle", "latitude": 40.0, "longitude": 116.0, "radius": .double(radius)],
                "origin": [
                    "file": "f.geojson", "feature": .string(feature),
                    "attributes": ["name": .string(name), "radius": .integer(Int64(radius))],
                ],
            ],
        ]
        return fence.description + "\n"
    }

    private func text(_ asked: ScriptedAgent.Asked?) -> [JSONValue] {
        let lines = asked?.parameters["text"]?.stringValue?.split(separator: "\n") ?? []
        return lines.compactMap { try? JSONReader.value(of: Array($0.utf8)) }
    }

    @Test func aFirstImportMakesFences() async throws {
        let agent = try await ScriptedServer.start([
            "ExportFences": .reply(["text": ""]), "ImportFences": Self.done,
        ])
        let folder = try FenceFolder()
        let file = try folder.collection(
            "f.geojson", FenceFolder.point("\"a\"", #""name":"Gate","kind":"depot""#),
            FenceFolder.point("\"b\"", #""name":"Yard","kind":"yard""#),
            FenceFolder.point("\"c\"", #""radius":-1,"kind":"depot""#))
        let result = try await agent.saker("fence", "import", file, "--buffer", "20", "--where", "kind = 'depot'")
        #expect(result.status == 1 && result.errors.contains("feature 3 ('c')"), "\(result.errors)")
        #expect(result.errors.hasSuffix("1 feature of \(file) refused; the others are imported\n"))
        #expect(
            result.output == "Fences: 1 new.\nOther features: 1 not chosen by --where, 1 refused.\n", "\(result.output)"
        )
        let asked = try await agent.asked
        #expect(asked.map(\.method) == ["ExportFences", "ImportFences"])
        // A file of the agent's own may be about any of its fences.
        #expect(asked.first?.parameters == [:])
        #expect(asked.last?.parameters["file"] == "f.geojson" && asked.last?.parameters["import_id"] == nil)
        #expect(
            text(asked.last) == [
                [
                    "name": "Gate", "watch": "#allentity",
                    "shape": ["kind": "point", "latitude": 40.0, "longitude": 116.0, "buffer": 20.0],
                    "origin": ["file": "f.geojson", "feature": "a", "attributes": ["name": "Gate", "kind": "depot"]],
                ]
            ])
        try await agent.stop()
    }

    @Test func aSecondImportChangesAddsAndRemoves() async throws {
        let known = line(15, feature: "a") + line(16, feature: "b") + line(17, feature: "gone")
        // A piece may end inside a line.
        let cut = known.index(known.startIndex, offsetBy: 300)
        let agent = try await ScriptedServer.start([
            "ExportFences": .turns([
                .reply(["text": .string(String(known[..<cut])), "position": "p"]),
                .reply(["text": .string(String(known[cut...]))]),
                .reply(["text": .string(String(known[..<cut])), "position": "p"]),
                .reply(["text": .string(String(known[cut...]))]),
            ]), "ImportFences": Self.done,
        ])
        let folder = try FenceFolder()
        let file = try folder.collection(
            "f.geojson", FenceFolder.point("\"a\"", #""name":"Gate","radius":100"#),
            FenceFolder.point("\"b\"", #""name":"Gate","radius":200"#), FenceFolder.point("\"new\"", #""radius":5"#))
        let dry = try await agent.saker("fence", "import", file, "--dry-run")
        let told = "Fences: 1 new, 1 changed, 1 unchanged, 1 removed.\n"
        #expect(dry.output == told + "Nothing was changed, because of --dry-run.\n", "\(dry.output) \(dry.errors)")
        #expect(try await agent.asked.map(\.method) == ["ExportFences", "ExportFences"])
        let result = try await agent.saker("fence", "import", file)
        #expect(result.status == 0 && result.output == told, "\(result.output) \(result.errors)")
        let lines = text(try await agent.asked.last)
        #expect(lines.map { $0["origin"]?["feature"] } == ["new", "b", nil])
        #expect(lines[1]["shape"]?["radius"] == 200.0 && lines[2] == ["keep": "a"])
        try await agent.stop()
    }

    @Test func aLongImportGoesInParts() async throws {
        let agent = try await ScriptedServer.start(["ExportFences": .reply(["text": ""]), "ImportFences": Self.done])
        let folder = try FenceFolder()
        let note = String(repeating: "\\\"水", count: 100)
        let features = (0..<3000).map { FenceFolder.point("\($0)", "\"radius\":5,\"note\":\"\(note)\"") }
        let file = try folder.file(
            "f.geojson", "{\"type\":\"FeatureCollection\",\"features\":[\(features.joined(separator: ","))]}")
        let result = try await agent.saker("fence", "import", file, "--as", "notes")
        #expect(result.status == 0 && result.output == "Fences: 3,000 new.\n", "\(result.errors)")
        let sent = try await agent.asked.dropFirst()
        #expect(sent.count > 2 && Set(sent.map { $0.parameters["import_id"] }).count == 1)
        #expect(sent.map { $0.parameters["part"] } == (0..<sent.count).map { .integer(Int64($0)) })
        #expect(sent.map { $0.parameters["last"] } == (0..<sent.count).map { .bool($0 == sent.count - 1) })
        #expect(sent.allSatisfy { $0.parameters["file"] == "notes" })
        let whole = sent.compactMap { $0.parameters["text"]?.stringValue }
        #expect(
            whole.allSatisfy {
                $0.utf8.count <= 512 * 1024 + 4 && JSONValue.string($0).description.utf8.count < 1_000_000
            })
        let lines = whole.joined().split(separator: "\n")
        #expect(lines.count == 3000)
        let last = try JSONReader.value(of: Array(try #require(lines.last).utf8))
        #expect(last["origin"]?["attributes"]?["note"]?.stringValue?.hasSuffix("\"水") == true)
        try await agent.stop()
    }

    @Test func moreThanAnAgentTakesIsRefusedBeforeItIsSent() async throws {
        let agent = try await ScriptedServer.start(["ExportFences": .reply(["text": ""]), "ImportFences": Self.done])
        let folder = try FenceFolder()
        let many = (0...10_000).map { FenceFolder.point("\($0)") }
        let file = try folder.file(
            "f.geojson", "{\"type\":\"FeatureCollection\",\"features\":[\(many.joined(separator: ","))]}")
        let result = try await agent.saker("fence", "import", file, "--buffer", "5")
        #expect(
            result.status == 1 && result.errors.contains("the file makes more than 10000 fences"), "\(result.errors)")
        #expect(try await agent.asked.map(\.method) == ["ExportFences"])
        try await agent.stop()
    }

    @Test func anExportIsGeoJSONOfEveryFence() async throws {
        let agent = try await ScriptedServer.start([
            "ExportFences": .reply(["text": .string(line(15, feature: "a") + line(16, feature: "b", name: "Yard"))])
        ])
        let result = try await agent.saker("fence", "export", "--group", "g")
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let value = try JSONReader.value(of: Array(result.output.utf8))
        #expect(value["features"]?.arrayValue?.map { $0["properties"]?["name"] } == ["Gate", "Yard"])
        #expect(value["features"]?.arrayValue?.map { $0["id"] } == [15, 16])
        #expect(try await agent.asked.last?.parameters == ["group": "g"])
        let folder = try FenceFolder()
        let path = folder.directory.file("out.geojson")
        let written = try await agent.saker("fence", "export", "--output", path)
        #expect(written.output == "2 fences in \(path).\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == result.output)
        // What was exported can be tried, from the file and from the agent alike.
        let file = try await agent.saker("fence", "test", try folder.drive(), "--fences", path)
        let own = try await agent.saker("fence", "test", try folder.drive())
        #expect(own.output == file.output && own.output.contains("4 alarms of 2 fences"), "\(own.output) \(own.errors)")
        let wrong = try await agent.saker("fence", "test", try folder.drive(), "--stay", "60")
        #expect(wrong.status == 2 && wrong.errors.contains("are tried as they are"), "\(wrong.errors)")
        try await agent.stop()
    }

    @Test func anExportBeginsAnewWhenAFenceChangesMeanwhile() async throws {
        let changed: ScriptedAgent.Answer = .error(
            "io.saker.Agent.ParameterError",
            ["reason": "fence 15 has changed: begin anew", "code": 2, "parameter": "position"])
        let agent = try await ScriptedServer.start([
            "ExportFences": .turns([
                .reply(["text": "{", "position": "1"]), changed, .reply(["text": .string(line(15, feature: "a"))]),
            ])
        ])
        let result = try await agent.saker("fence", "export")
        #expect(result.status == 0 && result.output.contains("\"id\":15"), "\(result.errors)")
        try await agent.stop()
    }
}

/// Files that commands write as a whole or not at all.
@Suite struct OutputFileTests {
    /// A number that the file has given back may be another file's already.
    @Test func aFileThatCannotTakeItsPlaceClosesItsDescriptorOnce() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("taken")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        var file = try OutputFile(path)
        try file.write("fences")
        #expect(throws: FenceCommandFailure.self) { try file.finish() }
        // The lowest free numbers, the one that was given back among them.
        let others = (0..<20).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        defer { for other in others { close(other) } }
        file.discard()
        #expect(others.allSatisfy { fcntl($0, F_GETFD) >= 0 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["taken"])
    }

    @Test func whatIsGivenUpLeavesNothing() throws {
        let directory = try TemporaryDirectory()
        var file = try OutputFile(directory.file("a"))
        try file.write("half")
        file.discard()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }
}

/// Files for the tests of `saker fence`.
struct FenceFolder {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    func file(_ name: String, _ text: String) throws -> String {
        let path = directory.file(name)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// In at 15.3 s, out at 34.7 s: a circle of 100 m around 40, 116.
    func drive(_ name: String = "drive.csv") throws -> String {
        let rows = [115.995, 115.9975, 116.0, 116.0, 116.0025, 116.005].enumerated().map {
            "2026-03-05T08:20:\($0.offset)0Z,40,\($0.element),20,5\n"
        }
        return try file(name, "time,lat,lon,speed,accuracy\n" + rows.joined())
    }

    static func point(_ id: String, _ properties: String = "", at longitude: Double = 116) -> String {
        """
        {"type":"Feature","id":\(id),"geometry":{"type":"Point","coordinates":[\(longitude),40]},"properties":{\(properties)}}
        """
    }

    func collection(_ name: String, _ features: String...) throws -> String {
        try file(name, "{\"type\":\"FeatureCollection\",\"features\":[\(features.joined(separator: ","))]}")
    }
}
