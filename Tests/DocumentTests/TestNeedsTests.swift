import Foundation
import ProgramTestKit
import Testing

/// No test may look away: what a test needs of its machine, it says by `.needs(...)`, which fails where `CI` is set.
@Suite struct TestNeedsTests {
    /// Ways of a test to leave itself out, or to go on without what it waited for.
    private static let forbidden = [
        ".enabled(", ".disabled(", "Test.cancel", "print(\"skipped", "orElse:", "[\"CI\"]", "isExecutableFile",
    ]

    private func files() throws -> [String] {
        let tests = Repository.root + "/Tests"
        let names = try FileManager.default.subpathsOfDirectory(atPath: tests)
        return names.filter { $0.hasSuffix(".swift") && !#filePath.hasSuffix("/" + $0) }.map { "Tests/" + $0 }
    }

    @Test func noTestDecidesItselfWhetherItRuns() throws {
        let files = try files()
        #expect(files.count > 200)
        for file in files {
            for line in try Repository.text(file).split(separator: "\n") {
                for way in Self.forbidden where line.contains(way) {
                    Issue.record(
                        "\(file): \(line.trimmingCharacters(in: .whitespaces)). Use .needs(...) of ProgramTestKit")
                }
            }
        }
    }

    @Test func everyPackageThatATestNeedsIsInstalled() throws {
        let script = try Repository.text("scripts/install-deps")
        let list = try #require(script.components(separatedBy: "packages=(").dropFirst().first?.prefix { $0 != ")" })
        let installed = Set(
            list.split(separator: "\n").filter { !$0.contains("#") }.flatMap { $0.split(separator: " ") }.map(
                String.init))
        for need in Need.all {
            if let package = need.package { #expect(installed.contains(package), "\(package), for \(need.name)") }
        }
    }
}
