import Dispatch
import Foundation
import Testing

@testable import WebAPI

/// The fuzzers' properties, compiled from the same files, on every input that is kept: seeds, and what once failed.
@Suite struct ReplayTests {
    @Test(arguments: Property.all.map(\.name))
    func aKeptInputHoldsItsProperty(name: String) async throws {
        let property = try #require(Property.all.first { $0.name == name })
        let inputs = try ["Corpus", "Found"].flatMap { try Self.files(in: "\($0)/\(name)") }
        #expect(!inputs.isEmpty, "Fuzz/Corpus/\(name) is empty")
        // A property may block its thread, which must then be none of those that tasks share.
        let failures = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Self.failures(of: property, on: inputs))
            }
        }
        for failure in failures { Issue.record("\(failure)") }
    }

    @Test func everyFolderOfInputsBelongsToAProperty() throws {
        let names = Set(Property.all.map(\.name))
        #expect(names.count == Property.all.count)
        for folder in ["Corpus", "Found"] {
            let found = try FileManager.default.contentsOfDirectory(atPath: Self.fuzz + folder)
            #expect(names.isSuperset(of: found.filter { !$0.hasPrefix(".") }), "in Fuzz/\(folder)")
        }
    }

    /// A call that no kept input makes would take libFuzzer days to find.
    @Test func everyCallOfTheWebAPIHasAKeptInput() throws {
        let inputs = try Self.files(in: "Corpus/web-requests").map { try Data(contentsOf: URL(filePath: $0)) }
        for path in Endpoint.all.map(\.path) {
            let target = Data("/api/v3/\(path)".utf8)
            #expect(
                inputs.contains { $0.range(of: target) != nil },
                "no file of Fuzz/Corpus/web-requests calls \(path): see docs/fuzzing.md")
        }
    }

    private static func failures(of property: Property, on inputs: [String]) -> [String] {
        inputs.compactMap { path in
            do {
                try property.check([UInt8](Data(contentsOf: URL(filePath: path))))
                return nil
            } catch {
                return "\(path): \(error)"
            }
        }
    }

    /// `Fuzz/` of the repository, wherever a link leads to this file from.
    private static let fuzz =
        URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path() + "/Fuzz/"

    private static func files(in folder: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: fuzz + folder) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: fuzz + folder).sorted()
            .filter { !$0.hasPrefix(".") }.map { "\(fuzz)\(folder)/\($0)" }
    }
}
