import Geodesy
import Geofencing
import JSON
import TrackModel
import TrackStore

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
            writeShape(definition, to: &object)
        }
        object.member("denoise", Int64(definition.denoise))
        if let text = clock.text(fence.created) { object.member("create_time", text) }
        if let text = clock.text(fence.modified) { object.member("modify_time", text) }
    }

    private func writeShape(_ definition: FenceDefinition, to object: inout JSONWriter) {
        let draft = definition.shape
        let (outline, datum) = draft.outline(in: coordinateType.datum)
        switch outline {
        case .circle(let centre, let radius):
            write(centre, to: &object)
            object.member("radius", radius)
        case .point(let place) where definition.isWithoutArea: write([place, place, place], to: &object)
        case .point(let place):
            write(place, to: &object)
            object.member("radius", draft.buffer)
        case .polygon(let parts):
            write(parts.first?.first ?? [], to: &object)
            // The published API has one outer ring. Who knows more shapes finds all of them here.
            if parts.count > 1 || parts.contains(where: { $0.count > 1 }) { write(parts, to: &object) }
        case .corridor(let line, let offset):
            write(line, to: &object)
            object.member("offset", offset)
        }
        if draft.buffer > 0 {
            if case .point = outline {} else { object.member("buffer", draft.buffer) }
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

    /// Parts; each has its outer ring and then its holes, each an array of places.
    private func write(_ parts: [[[Degrees]]], to object: inout JSONWriter) {
        object.array("parts") { list in
            for part in parts {
                list.array { rings in
                    for ring in part {
                        switch vertices {
                        case .objects:
                            rings.array { places in for place in ring { places.object { write(place, to: &$0) } } }
                        case .text: rings.string(Self.text(ring))
                        }
                    }
                }
            }
        }
    }

    private func write(_ places: [Degrees], to object: inout JSONWriter) {
        switch vertices {
        case .objects:
            object.array("vertexes") { list in
                for place in places { list.object { write(place, to: &$0) } }
            }
        case .text:
            object.member("vertexes", Self.text(places))
        }
    }

    private static func text(_ places: [Degrees]) -> String {
        places.map { number($0.latitude) + "," + number($0.longitude) }.joined(separator: ";")
    }

    private static func number(_ value: Double) -> String {
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        writer.rounded(value, digits: 10)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension FenceEndpoints {
    /// `fence/list`: of an entity, of everyone, of some, or by numbers.
    static let list = Endpoint(
        "fence/list", .get, ["monitored_person", "fence_ids", "coord_type_output", "page_index", "page_size"],
        about: \.monitoredPerson
    ) { (call, store: any FenceStore & ServiceStore) in
        let ids = try call.fenceIDs()
        let person = call.parameters["monitored_person"] == nil ? nil : try call.person()
        guard ids != nil || person != nil else {
            throw APIFailure(.parameter, "give monitored_person, fence_ids, or both")
        }
        let watch: FenceFilter.Watch =
            switch person {
            case nil: .any
            case FenceSubjects.everyoneName?: .everyone
            case "#partofentity"?: .several
            case let name?: .watching(name)
            }
        var page = call.parameters.page(defaultSize: 1000, maximumSize: 1000)
        if person == nil { page = (1, FenceLimits.mostFences) }
        let vertices = try await store.answers(of: call.service).vertices ?? call.options.fenceVertices
        let writer = FenceWriter(coordinateType: try call.outputType(), clock: call.clock, vertices: vertices)
        let found = try await store.readableFences(
            in: call.service, matching: FenceFilter(fences: ids, watch: watch),
            page: Page(offset: (page.index - 1) * page.size, limit: page.size))
        call.note(found.problems)
        return Answer { answer in
            answer.member("total", found.total)
            answer.member("size", found.fences.count)
            answer.array("fences") { list in
                for record in found.fences { list.object { writer.write(record.fence, to: &$0) } }
            }
            if !found.problems.isEmpty { answer.member("unreadable", found.problems.count) }
        }
    }
}
