package import Geofencing
import TrackModel

/// What an alarm tells of its fence beside the verdict.
struct FenceLabel: Hashable, Sendable {
    let name: String
    let group: String?
    let reactions: [FenceReaction]
    /// Kept only for those that are told remotely.
    let watch: FenceWatch

    init(_ fence: Fence) {
        name = fence.definition.name
        group = fence.definition.group
        reactions = fence.definition.reactions
        watch = reactions.contains(where: \.isRemote) ? fence.definition.watch : .nobody
    }
}

/// What a named time zone stands for; nil when the name is not known here.
package typealias ZoneTable = @Sendable (String) -> ZoneOffsets?

extension Fence {
    /// Nil when the fence's time zone is not known: then it cannot be judged.
    func plan(watchedSince time: Timestamp, _ zones: ZoneTable) -> FencePlan? {
        var zone: ZoneOffsets?
        if case .named(let name)? = definition.validity?.zone { zone = zones(name) }
        return try? plan(from: time, zone: zone)
    }
}
