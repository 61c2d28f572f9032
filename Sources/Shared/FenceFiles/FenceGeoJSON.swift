internal import FenceJSON
internal import Geodesy
package import Geofencing
internal import JSON
internal import TrackModel

/// Writes fences as GeoJSON (RFC 7946), so that maps show them and ``FenceImport`` makes the same fences of them again.
///
/// The geometry and the members `name`, `radius`, `offset` and `buffer` are for everyone; the member `fence` has the rest, and
/// `created` tells a fence from others of its number.
package enum FenceGeoJSON {
    /// A FeatureCollection.
    package static func collection(of fences: some Sequence<Fence>) -> [UInt8] {
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        writer.object {
            $0.member("type", "FeatureCollection")
            $0.array("features") { for fence in fences { write(fence, to: &$0) } }
        }
        return writer.bytes
    }

    /// One feature, for a list that is written piece by piece.
    package static func feature(_ fence: Fence) -> [UInt8] {
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        write(fence, to: &writer)
        return writer.bytes
    }

    static func write(_ fence: Fence, to writer: inout JSONWriter) {
        let definition = fence.definition
        writer.object {
            $0.member("type", "Feature")
            $0.member("id", Int64(fence.id))
            let outline = definition.shape.outline(in: .wgs84).outline
            $0.object("geometry") { write(outline, to: &$0) }
            $0.object("properties") {
                if !definition.name.isEmpty { $0.member("name", definition.name) }
                switch outline {
                case .circle(_, let radius): $0.member("radius", radius)
                case .corridor(_, let offset): $0.member("offset", offset)
                case .point, .polygon: break
                }
                if definition.shape.buffer > 0 { $0.member("buffer", definition.shape.buffer) }
                $0.member(created, fence.created.milliseconds)
                var rest = definition.rules
                rest["name"] = nil
                // Said in any case: without it, an import makes a fence that watches whom its fences usually watch.
                if definition.watch.isNobody { rest["watch"] = [] }
                if !isKept(definition.shape, as: outline) { rest["shape"] = definition.shape.json }
                $0.name("fence")
                $0.value(.object(rest))
            }
        }
    }

    /// Whether the geometry alone gives the same numbers back.
    private static func isKept(_ shape: ShapeDraft, as outline: ShapeDraft.Outline) -> Bool {
        guard shape.datum == .wgs84 else { return false }
        guard case .polygon(let parts) = outline else { return true }
        return parts.allSatisfy { $0.allSatisfy { $0.count < 2 || $0.first != $0.last } }
    }

    private static func write(_ outline: ShapeDraft.Outline, to writer: inout JSONWriter) {
        switch outline {
        case .circle(let place, _), .point(let place):
            writer.member("type", "Point")
            writer.name("coordinates")
            write(place, to: &writer)
        case .corridor(let line, _):
            writer.member("type", "LineString")
            writer.array("coordinates") { for place in line { write(place, to: &$0) } }
        case .polygon(let parts):
            writer.member("type", parts.count == 1 ? "Polygon" : "MultiPolygon")
            writer.array("coordinates") {
                for part in parts {
                    if parts.count == 1 {
                        for ring in part { write(ring: ring, to: &$0) }
                    } else {
                        $0.array { for ring in part { write(ring: ring, to: &$0) } }
                    }
                }
            }
        }
    }

    private static func write(ring: [Degrees], to writer: inout JSONWriter) {
        writer.array {
            for place in ring { write(place, to: &$0) }
            if let first = ring.first, ring.count < 2 || first != ring.last { write(first, to: &$0) }
        }
    }

    private static func write(_ place: Degrees, to writer: inout JSONWriter) {
        writer.array {
            $0.double(place.longitude)
            $0.double(place.latitude)
        }
    }
}

/// A feature that was written here, and the fence that it was.
extension FenceGeoJSON {
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
