import Foundation
package import Testing

/// Lets a test, or every test of a suite, run only on a machine that has what it needs. ``Need`` says what happens
/// elsewhere.
package struct NeedsTrait: TestTrait, SuiteTrait {
    let needs: [Need]

    package var isRecursive: Bool { true }

    package func prepare(for test: Test) async throws {
        for need in needs {
            switch need.verdict(in: ProcessInfo.processInfo.environment) {
            case .runs: continue
            case .isSkipped(let reason): try await ConditionTrait.disabled(Comment(rawValue: reason)).prepare(for: test)
            case .fails(let reason): throw Trouble(reason)
            }
        }
    }
}

extension Trait where Self == NeedsTrait {
    /// `@Suite(.needs(.gpsd, .root))`
    package static func needs(_ needs: Need...) -> Self { Self(needs: needs) }
}
