package import Geofencing
package import TrackModel

/// What an import changes. Nothing has changed yet.
package struct ImportPlan: Hashable, Sendable {
    package struct Update: Hashable, Sendable {
        package let fence: Fence
        package let edit: FenceEdit
    }

    /// Fences to make, in the order of the file. Each keeps every rule.
    package var additions: [FenceDefinition] = []
    /// Fences as they become.
    package var updates: [Update] = []
    /// Fences whose features are gone.
    package var removals: [Int32] = []
    /// Fences that stay as they are.
    package var unchanged = 0
    /// Features that the condition did not choose, or whose condition is unknown.
    package var notChosen = 0
    /// Features outside the area.
    package var outside = 0
    /// Fences without a feature that stay all the same: a feature whose id is not known was refused, and may be theirs.
    package var held = 0
    /// Features whose number in the file is their id: when the file's order changes, fences change.
    package var withoutID = 0
    /// The first features that cannot become fences; those that were imported before stay as they are.
    package var refusals: [RefusedFeature] = []
    package var refused = 0

    /// Whom the fences watch that are made or changed.
    package var watched: Set<ExactName> { Set(written.flatMap { Array($0.watch.entities) }) }

    /// Of a vehicle: fences that tell an action to others, who hear nothing of it without reports to the server.
    package var unreported: Int { written.count { $0.unreportedRemote != nil } }

    private var written: [FenceDefinition] { additions + updates.map(\.fence.definition) }

    package static let mostRefusals = 1000

    package init() {}
}
