import Geodesy
import Geofencing
import JSON
import TrackModel

/// Writes fences in the datum that the client asked for.
struct FenceWriter {
    let coordinateType: CoordinateType
    let clock: WallClock
    let vertices: WebAPIOptions.FenceVertices

    func write(_ fence: Fence, to object: inout JSONWriter) {
        let definition = fence.definition
        let kind = FenceEndpoints.FenceKind(definition)
        object.member("fence_id", Int64(fence.id))
        object.member("fence_name", definition.name)
        object.member("monitored_person", definition.watch.personText)
        object.member("shape", kind.rawValue)
        if kind == .district {
            object.member("district", definition.district ?? "")
        } else {
            writeShape(definition.shape, to: &object)
        }
        object.member("denoise", Int64(definition.denoise))
        if let text = clock.text(fence.created) { object.member("create_time", text) }
        if let text = clock.text(fence.modified) { object.member("modify_time", text) }
    }

    private func writeShape(_ draft: ShapeDraft, to object: inout JSONWriter) {
        let (outline, datum) = draft.outline(in: coordinateType.datum)
        switch outline {
        case .circle(let centre, let radius):
            write(centre, to: &object)
            object.member("radius", radius)
        // A polygon without area.
        case .point(let place): write([place, place, place], to: &object)
        case .polygon(let parts): write(parts.first?.first ?? [], to: &object)
        case .corridor(let line, let offset):
            write(line, to: &object)
            object.member("offset", offset)
        }
        // Outside China there is only WGS 84, whatever was asked for.
        if datum != coordinateType.datum { object.member("coord_type", CoordinateType.wgs84.rawValue) }
    }

    private func write(_ place: Degrees, to object: inout JSONWriter) {
        object.name("longitude")
        object.rounded(place.longitude, digits: 10)
        object.name("latitude")
        object.rounded(place.latitude, digits: 10)
    }

    private func write(_ places: [Degrees], to object: inout JSONWriter) {
        switch vertices {
        case .objects:
            object.array("vertexes") { list in
                for place in places { list.object { write(place, to: &$0) } }
            }
        case .text:
            let pairs = places.map { Self.number($0.latitude) + "," + Self.number($0.longitude) }
            object.member("vertexes", pairs.joined(separator: ";"))
        }
    }

    private static func number(_ value: Double) -> String {
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        writer.rounded(value, digits: 10)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
