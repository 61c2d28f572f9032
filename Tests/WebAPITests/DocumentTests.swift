import Foundation
import Testing
import TrackStore

@testable import WebAPI

/// docs/web-api.md beside the list of endpoints.
@Suite struct DocumentTests {
    /// What the page says of one call.
    private struct Section: Hashable {
        let method: String
        let path: String
        /// Names of the first column of its table; `*entity columns*` stands for columns of that kind.
        let parameters: [String]
    }

    /// A section begins with a heading such as `` ### POST `entity/add` `` and ends with the next heading.
    private func sections() throws -> [Section] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/web-api.md"), encoding: .utf8)
        return page.split(separator: "\n### ").dropFirst().compactMap { section in
            guard let heading = section.prefixMatch(of: /(\w+) `([a-z\/]+)`\n/) else { return nil }
            let body = section.split(separator: "\n## ")[0]
            let rows = body.matches(of: /(?m)^\| (?:`(\w+)`|(\*\w+ columns\*)) \|/)
            return Section(
                method: String(heading.1), path: String(heading.2),
                parameters: rows.map { String($0.1 ?? $0.2 ?? "") })
        }
    }

    @Test func everyEndpointIsDocumentedWithItsMethodAndParametersAndNothingElseIs() throws {
        let documented = try sections()
        #expect(Set(documented.map(\.path)).count == documented.count, "a call is documented twice")
        let endpoints = Endpoint.all.map { endpoint in
            Section(
                method: endpoint.method.rawValue, path: endpoint.path,
                parameters: (endpoint.parameters + (endpoint.columns.map { ["*\($0.rawValue) columns*"] } ?? []))
                    .sorted())
        }
        let sorted = documented.map { Section(method: $0.method, path: $0.path, parameters: $0.parameters.sorted()) }
        for missing in Set(endpoints).subtracting(sorted) {
            Issue.record("docs/web-api.md does not say: \(missing.method) \(missing.path) \(missing.parameters)")
        }
        for wrong in Set(sorted).subtracting(endpoints) {
            Issue.record("docs/web-api.md says, and it is not so: \(wrong.method) \(wrong.path) \(wrong.parameters)")
        }
    }

    @Test func everyStatusIsDocumented() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/web-api.md"), encoding: .utf8)
        let table = try #require(page.split(separator: "| status | meaning |").last?.split(separator: "\n\n").first)
        let numbers = Set(table.matches(of: /\d+/).compactMap { Int($0.0) })
        for status in APIStatus.allCases { #expect(numbers.contains(status.rawValue), "\(status.rawValue)") }
    }
}
