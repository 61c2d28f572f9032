internal import Geofencing
internal import JSON
internal import TrackModel

/// A feature that ``FenceGeoJSON`` has written, and the fence that it was.
enum ExportedFence {
    /// The property with the time at which the fence was made, in milliseconds since 1970.
    static let created = "created"

    /// The fence itself, when it is one of these. The number alone would say nothing: every vehicle counts from 1.
    ///
    /// `definition`: what an import makes of the feature. It tells a fence whose feature has no time, which an older version has
    /// written: if nothing has changed, it is the same.
    static func own(
        _ feature: FenceFeature, among fences: [Int32: Fence],
        definition: (Fence) throws(FenceFileError) -> FenceDefinition
    ) throws(FenceFileError) -> Fence? {
        guard let given = feature.properties["fence"], given.objectValue != nil, feature.geometry.parts.count == 1,
            let id = feature.id.flatMap({ Int32($0) }), let fence = fences[id]
        else { return nil }
        if let created = feature.properties[created]?.integerValue {
            return created == fence.created.milliseconds ? fence : nil
        }
        return try definition(fence) == fence.definition ? fence : nil
    }
}
