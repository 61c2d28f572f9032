import Foundation
import Testing

/// The program itself, as it is built.
@Suite(.timeLimit(.minutes(5))) struct SakerSimTests {
    private static let program = Bundle.main.bundleURL.appending(path: "saker-sim")

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await run(arguments)
    }

    /// Runs the program to its end, on a thread of its own.
    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Swift.Result { try Self.runToEnd(arguments) })
            }
        }
    }

    private static func runToEnd(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = program
        process.arguments = ["drive"] + arguments
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let text = [output, errors].map {
            String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
        process.waitUntilExit()
        return (process.terminationStatus, text[0], text[1])
    }

    private func withFile<Result>(_ text: String, _ body: (String) async throws -> Result) async throws -> Result {
        let url = FileManager.default.temporaryDirectory.appending(path: "saker-sim-\(UUID().uuidString)")
        try Data(text.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url.path)
    }

    @Test func aDriveIsSentAndItsTruthWritten() async throws {
        try await withFile("") { truth in
            let result = try await run(
                "--udp", "127.0.0.1:9", "--duration", "0.5", "--rate", "10", "--seed", "3", "--start-time",
                "2026-03-15T08:00:00Z", "--truth", truth)
            #expect(result.status == 0)
            #expect(result.output == "sending 127.0.0.1:9\n")
            let lines = try String(contentsOfFile: truth, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 6)
            #expect(lines[1].hasPrefix("1773561600000,52.07050000,4.30070000,12.00,0.000,"))
            #expect(lines[5].hasPrefix("1773561600400,"))
        }
    }

    @Test(arguments: [
        #"<gpx><trk><trkseg><trkpt lat="52" lon="4"><ele>3</ele></trkpt><trkpt lat="52.0004" lon="4"/></trkseg></trk></gpx>"#,
        #"<gpx><trkpt lat="52" lon="4"><ele>high</ele></trkpt><trkpt lat="52.0004" lon="4"/></gpx>"#,
        #"<gpx><rte><rtept lat="52" lon="4"/><rtept lat="52.0004" lon="4"/></rte></gpx>"#,
        #"{"type":"LineString","coordinates":[[4,52],[4,52.0004,7]]}"#,
        #"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}},"#
            + #"{"type":"Feature","geometry":{"type":"LineString","coordinates":[[4,52],[4,52.0004]]}}]}"#,
    ]) func aRouteIsReadFromAFile(text: String) async throws {
        try await withFile(text) { path in
            try await withFile("") { truth in
                let result = try await run(
                    "--route", path, "--udp", "127.0.0.1:9", "--duration", "0.2", "--rate", "10", "--truth", truth)
                #expect(result.status == 0, "\(result.errors)")
                let lines = try String(contentsOfFile: truth, encoding: .utf8).split(separator: "\n")
                #expect(lines.count == 3)
                #expect(lines.last?.contains(",52.00000") == true)
            }
        }
    }

    @Test(arguments: [
        ("", "neither GPX"), ("x", "neither GPX"), ("<gpx><trk>", "line 1: no XML"), ("<gpx/>", "no trkpt"),
        ("<gpx>\n<trkpt lat=\"north\" lon=\"4\"/></gpx>", "line 2: trkpt lat=\"north\""),
        ("<gpx><trkpt lat=\"95\" lon=\"4\"/></gpx>", "latitude 95.0"),
        ("<gpx><trkpt lat=\"52\" lon=\"4\"/></gpx>", "a route needs 2"), ("{", "no JSON"), ("{}", "no LineString"),
        (#"{"type":"LineString","coordinates":[[4,52],["a"]]}"#, #"point 2: "["a"]" is no place"#),
    ]) func aBadRouteFileIsExplained(file: (text: String, reason: String)) async throws {
        try await withFile(file.text) { path in
            let result = try await run("--route", path, "--udp", "127.0.0.1:9", "--duration", "1")
            #expect(result.status != 0)
            #expect(result.errors.contains(path) && result.errors.contains(file.reason), "\(result.errors)")
        }
    }

    @Test(arguments: [
        ["--rate", "3"], ["--speed-limit", "1000"], ["--speed-limit", "-5"], ["--duration", "0"],
        ["--duration", "nan"],
        ["--udp", "127.0.0.1:0"],
        ["--udp", "127.0.0.1"], ["--tunnel", "9-3"], ["--start-time", "yesterday"],
        ["--listen", "127.0.0.1:0", "--udp", "127.0.0.1:9"], ["--route", "/no/such/file", "--udp", "127.0.0.1:9"],
        ["--listen", "nowhere:1"], ["--truth", "/no/such/directory/x", "--udp", "127.0.0.1:9"],
    ]) func wrongArgumentsAreRefused(arguments: [String]) async throws {
        #expect(try await run(arguments).status != 0)
    }
}
