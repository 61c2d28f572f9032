import Foundation
import Synchronization
import Testing

/// Something outside the repository that a test needs of its machine.
///
/// A machine that lacks it skips the test and prints why. In continuous integration, where the variable `CI` is set,
/// no test may be left out: there the test fails and says what is missing. This is the only way for a test to depend on
/// its machine.
package struct Need: Sendable {
    /// What it is, for the sentence that says that it is missing.
    package let name: String
    /// The Debian package that has it. Nil when no package can give it: a right, or a file beside the repository.
    package let package: String?
    /// A package index that cannot be reached must not stop continuous integration: there too the test is skipped.
    package let mayBeMissing: Bool
    private let search: Search

    /// `obstacle`: why the machine does not have it; nil when it does. It is asked once.
    package init(
        _ name: String, package: String? = nil, mayBeMissing: Bool = false,
        obstacle: @escaping @Sendable () -> String?
    ) {
        self.name = name
        self.package = package
        self.mayBeMissing = mayBeMissing
        search = Search(obstacle)
    }

    /// Why the machine does not have it; nil when it does.
    package var obstacle: String? { search.result() }

    private final class Search: Sendable {
        private let find: @Sendable () -> String?
        private let found = Mutex<String??>(nil)

        init(_ find: @escaping @Sendable () -> String?) { self.find = find }

        func result() -> String? {
            found.withLock { found in
                if let found { return found }
                let new = find()
                found = .some(new)
                return new
            }
        }
    }

    /// What becomes of a test.
    package enum Verdict: Hashable, Sendable {
        case runs
        /// For this reason.
        case isSkipped(String)
        /// For this reason, because nothing may be left out.
        case fails(String)
    }

    /// `environment`: of the test's process.
    package func verdict(in environment: [String: String]) -> Verdict {
        guard let obstacle else { return .runs }
        let remedy = package.map { "; install the Debian package \($0) (scripts/install-deps does)" } ?? ""
        let reason = "this machine lacks \(name): \(obstacle)\(remedy)"
        let isContinuous = environment["CI", default: ""] != ""
        return isContinuous && !mayBeMissing
            ? .fails(reason + ". CI is set, so no test may be left out") : .isSkipped(reason)
    }

    /// For a test that needs it for some of its arguments only: ends the running case unless the machine has it.
    package func demand() throws {
        switch verdict(in: ProcessInfo.processInfo.environment) {
        case .runs: break
        case .isSkipped(let reason): try Test.cancel(Comment(rawValue: reason))
        case .fails(let reason): throw Trouble(reason)
        }
    }
}
