package import ArgumentParser
package import Geodesy
package import Geofencing

/// A fence that a command is about, as its holder has told it.
package protocol HeldFence: Sendable {
    var id: Int64 { get }
    /// Nil for a fence of a version that this program does not know. Without the shape when ``hasShape`` is false.
    var definition: FenceDefinition? { get }
    /// False: the shape is too large to be told.
    var hasShape: Bool { get }
}

/// Who has the fences of a command line: the agent has those of the vehicle, and a server those of its services. The commands are the
/// same, and the holder does them.
package protocol FenceHolder: ParsableArguments, Sendable {
    associatedtype Held: HeldFence

    /// The words before those of a command, as in `saker fence` and `saker-server fence`.
    static var program: String { get }
    /// What stands behind the words of a command in examples: the number of a service.
    static var subject: String { get }
    /// As in "Makes a fence on this vehicle."
    static var place: String { get }
    /// Whom a new fence watches of which nothing is said; nil: a person must say it.
    static var usualWatch: FenceSubjects? { get }
    /// Whether alarms can be reported: those of a server are its own.
    static var takesReports: Bool { get }

    /// Whether answers are printed as JSON.
    var printsJSON: Bool { get }

    /// Makes a fence and says so.
    func add(_ definition: FenceDefinition) async throws
    /// The one fence that a number or a name means.
    func fence(_ text: String) async throws -> Held
    /// Changes a fence and says so. `hasNewShape` false: the shape stays as the holder has it.
    func change(_ fence: Held, to definition: FenceDefinition, hasNewShape: Bool) async throws
    func fences(_ selection: FenceSelectionOptions) async throws -> [Held]
    /// The lines of a list.
    func table(_ fences: [Held]) -> [String]
    /// Deletes fences and says so. `isAll`: they are all that there were.
    func delete(_ fences: [Held], isAll: Bool) async throws
    /// Whole fences, to be tried. `texts`: numbers and names; empty: all.
    func copies(_ texts: [String]) async throws -> [Fence]
    /// The outline of a district of the holder's own, with its full name; nil: it has none.
    func district(_ name: String) async throws -> (name: String, shape: ShapeDraft)?
}

extension FenceHolder {
    /// A command as it is typed, as in `saker-server fence delete 1 depot`.
    package static func typed(_ command: String, _ rest: String = "") -> String {
        [program, command, subject, rest].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// Which fences a command is about. A fence must match all conditions.
package struct FenceSelectionOptions: ParsableArguments {
    @Argument(help: "Numbers or names of fences.")
    package var fences: [String] = []

    @Option(name: .long, help: ArgumentHelp("Only fences of this group.", valueName: "name"))
    package var group: String?

    @Option(name: .long, help: ArgumentHelp("Only fences that watch this entity.", valueName: "name"))
    package var entity: String?

    @Option(name: .long, help: ArgumentHelp("Only fences that were imported from this file.", valueName: "name"))
    package var file: String?

    @Option(name: .long, help: ArgumentHelp("Only fences of this layer of the file.", valueName: "name"))
    package var layer: String?

    package init() {}

    package var hasConditions: Bool { group != nil || entity != nil || file != nil || layer != nil }
}

/// Why a command about fences, or one that reads a file, failed: a sentence for the person.
package struct FenceCommandFailure: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The command failed, or was refused.
        case failed
        /// The command line is wrong.
        case usage
    }

    package let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) {
        (self.code, self.description) = (code, description)
    }
}
