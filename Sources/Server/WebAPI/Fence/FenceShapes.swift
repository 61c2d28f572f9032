import FenceFiles
import Geodesy
import Geofencing
import JSON
import Synchronization
import TrackModel
import TrackStore

/// Makes the shape of a fence of a call's parameters.
enum FenceShapes {
    enum Outcome {
        /// With nothing in it but a shape.
        case found(FenceDefinition)
        /// Several districts are meant, perhaps: their full names.
        case ambiguous([String])

        /// The answer to an ambiguous name; of a shape, nothing.
        var answer: Answer {
            guard case .ambiguous(let names) = self else { return .done }
            return Answer(.ambiguousDistrict) { answer in
                answer.array("district_list") { list in
                    for name in names { list.string(name) }
                }
            }
        }
    }

    /// Of a new fence. `line`: that of a polyline.
    static func new(
        _ kind: FenceEndpoints.FenceKind, _ line: PolylineThinning?, _ call: APICall, _ store: any DistrictStore
    ) async throws -> Outcome {
        switch kind {
        case .circle: .found(FenceDefinition(try call.circle(changing: nil)))
        case .polygon: .found(definition(of: try call.polygon()))
        case .polyline: .found(FenceDefinition(try call.polyline(line, changing: nil)))
        case .district: try await district(try call.parameters.required("keyword"), call, store)
        }
    }

    /// Puts the shape that a call gives in the place of a fence's present one; without one nothing changes. Of districts,
    /// ``district(_:_:_:)`` tells. `line`: that of a polyline.
    static func change(
        _ kind: FenceEndpoints.FenceKind, _ line: PolylineThinning?, _ call: APICall,
        _ definition: inout FenceDefinition
    ) throws(APIFailure) {
        switch kind {
        case .circle:
            guard ["longitude", "latitude", "radius"].contains(where: { call.parameters[$0] != nil }) else { return }
            definition.shape = try call.circle(changing: definition.shape)
        case .polygon:
            guard call.parameters["vertexes"] != nil else { return }
            var new = Self.definition(of: try call.polygon())
            // What the caller cannot give stays: hours, and metres around the outline.
            if !new.isWithoutArea, !definition.isWithoutArea {
                (new.validity, new.shape.buffer) = (definition.validity, definition.shape.buffer)
            }
            (definition.shape, definition.validity) = (new.shape, new.validity)
        case .polyline:
            guard ["vertexes", "offset"].contains(where: { call.parameters[$0] != nil }) else { return }
            definition.shape = try call.polyline(line, changing: definition.shape)
        case .district: return
        }
    }

    /// A polygon whose vertices are one place has no area, and clients make such fences: it is kept as a point, and never
    /// holds.
    private static func definition(of polygon: ShapeDraft) -> FenceDefinition {
        guard case .polygon(let parts) = polygon.outline, let ring = parts.first?.first, let place = ring.first,
            ring.allSatisfy({ $0 == place })
        else { return FenceDefinition(polygon) }
        var definition = FenceDefinition(ShapeDraft(.point(place), datum: polygon.datum, buffer: 0.001))
        var never = FenceValidity()
        never.through = Timestamp(milliseconds: 0)
        definition.validity = never
        return definition
    }

    /// The imported district that people call so.
    static func district(
        _ keyword: String, _ call: APICall, _ store: any DistrictStore
    ) async throws -> Outcome {
        guard keyword.utf8.count <= DistrictNames.mostBytes else {
            throw APIFailure(.parameter, "keyword has at most \(DistrictNames.mostBytes) bytes of UTF-8")
        }
        let known = try await call.districts.current(store)
        switch known.names.resolve(keyword) {
        case .ambiguous(let names): return .ambiguous(names)
        case .unknown:
            let hint =
                known.names.entries.isEmpty
                ? "the server has no districts: the operator imports them with saker-server district import"
                : "no imported district has this name"
            throw APIFailure(.parameter, "keyword: \(hint)")
        case .found(let number):
            guard let shape = try await store.districtShape(known.ids[number]) else {
                throw APIFailure(.parameter, "keyword: the district was removed just now")
            }
            var definition = FenceDefinition(shape)
            definition.district = known.names.fullName(of: number)
            return .found(definition)
        }
    }
}

extension FenceDefinition {
    /// A polygon whose vertices are one place: kept as a point that never counts.
    var isWithoutArea: Bool {
        guard case .point = shape.outline else { return false }
        return validity?.through?.milliseconds == 0
    }
}

// The shapes of fences as the API's parameters give them.
extension APICall {
    /// The datum of the given geometry.
    func fenceDatum() throws(APIFailure) -> Datum {
        guard let name = parameters["coord_type"] else { return .bd09 }
        guard let type = CoordinateType(parsing: name) else {
            throw APIFailure(.parameter, "coord_type must be wgs84, gcj02 or bd09ll")
        }
        return type.datum
    }

    /// A circle. What is not given comes from `old`; nil without `old`, when something is missing, is an error.
    ///
    /// A client that changes only the name of a circle sends its place as 0, 0: this counts as not given.
    func circle(changing old: ShapeDraft?) throws(APIFailure) -> ShapeDraft {
        var place = try place("latitude", "longitude")
        if old != nil, place == Degrees(latitude: 0, longitude: 0) { place = nil }
        var former: (centre: Degrees, radius: Double)?
        var buffer = 0.0
        switch old?.outline {
        case .circle(let centre, let radius)?: (former, buffer) = ((centre, radius), old?.buffer ?? 0)
        case .point(let centre)?: former = (centre, old?.buffer ?? 0)
        default: break
        }
        let radius = try parameters.double("radius") ?? former?.radius
        guard let radius else { throw APIFailure(.parameter, "radius is required") }
        guard radius > 0, radius <= FenceLimits.mostRadius else {
            throw APIFailure(.parameter, "radius must be above 0 and at most 5000 metres")
        }
        guard let centre = place ?? former?.centre else {
            throw APIFailure(.parameter, "latitude and longitude are required")
        }
        let outline = ShapeDraft.Outline.circle(centre: centre, radius: radius)
        // The API knows no buffer, so no call takes one away.
        if place == nil, let old { return ShapeDraft(outline, datum: old.datum, buffer: buffer) }
        return ShapeDraft(outline, datum: try fenceDatum(), buffer: buffer)
    }

    /// A polygon without holes.
    func polygon() throws(APIFailure) -> ShapeDraft {
        let vertices = try vertices()
        guard FenceLimits.polygonVertices.contains(vertices.count) else {
            throw APIFailure(.parameter, "vertexes of a polygon are 3 to 100 pairs, not \(vertices.count)")
        }
        return ShapeDraft(.polygon([[vertices]]), datum: try fenceDatum())
    }

    /// The line of a polyline with as many vertices as a fence may have; nil when none is given.
    func thinnedLine() throws(APIFailure) -> PolylineThinning? {
        guard parameters["vertexes"] != nil else { return nil }
        return PolylineThinning(try vertices(), to: FenceLimits.polylineVertices)
    }

    /// A line with an offset to both sides. `new`: that of ``thinnedLine()``. What is not given comes from `old`.
    func polyline(_ new: PolylineThinning?, changing old: ShapeDraft?) throws(APIFailure) -> ShapeDraft {
        var former: (line: [Degrees], offset: Double)?
        if let old, case .corridor(let line, let offset) = old.outline { former = (line, offset) }
        let offset = try parameters.double("offset") ?? former?.offset
        guard let offset else { throw APIFailure(.parameter, "offset is required") }
        guard offset > 0, offset <= ShapeDraft.mostOffset else {
            throw APIFailure(.parameter, "offset must be above 0 and at most 10000 metres")
        }
        guard let thinning = new else {
            guard let old, let former else { throw APIFailure(.parameter, "vertexes is required") }
            return ShapeDraft(.corridor(former.line, offset: offset), datum: old.datum, buffer: old.buffer)
        }
        let line = thinning.line
        guard line.count >= 2 else { throw APIFailure(.parameter, "vertexes of a polyline are 2 to 100 pairs") }
        let most = min(offset / 4, FenceLimits.mostThinning)
        guard thinning.deviation <= most else {
            throw APIFailure(
                .parameter,
                "vertexes of a polyline are 2 to 100 pairs; thinned to 100, this one of \(thinning.given) would be up to"
                    + " \(Int(thinning.deviation.rounded(.up))) m off, and \(most) m are the most: make several fences of it"
            )
        }
        let length = zip(line, line.dropFirst()).reduce(0) { $0 + SurfaceDistance.between($1.0, $1.1) }
        guard length < FenceLimits.polylineLength else {
            throw APIFailure(
                .parameter,
                "vertexes of a polyline are a line under 500 km, and this one has \(Int((length / 1000).rounded(.up))) km:"
                    + " make several fences of it")
        }
        return ShapeDraft(.corridor(line, offset: offset), datum: try fenceDatum(), buffer: old?.buffer ?? 0)
    }

    /// One place of two parameters; nil when neither is given.
    func place(_ latitudeName: String, _ longitudeName: String) throws(APIFailure) -> Degrees? {
        let (latitude, longitude) = (try parameters.double(latitudeName), try parameters.double(longitudeName))
        guard latitude != nil || longitude != nil else { return nil }
        guard let latitude, let longitude else {
            throw APIFailure(.parameter, "\(latitudeName) and \(longitudeName) belong together: give both")
        }
        return try Self.checked(Degrees(latitude: latitude, longitude: longitude), latitudeName, longitudeName)
    }

    /// `latitude,longitude` pairs joined by semicolons.
    func vertices() throws(APIFailure) -> [Degrees] {
        let text = try parameters.required("vertexes")
        var vertices: [Degrees] = []
        for pair in TextParts.split(text, at: ";") where !TextParts.isBlank(pair) {
            guard vertices.count < FenceLimits.mostGivenVertices else {
                throw APIFailure(.parameter, "vertexes has more than \(FenceLimits.mostGivenVertices) pairs")
            }
            let numbers = TextParts.split(pair, at: ",", keepsEmpty: true)
            guard numbers.count == 2, let latitude = Double(decimal: Parameters.trimmed(numbers[0])),
                let longitude = Double(decimal: Parameters.trimmed(numbers[1]))
            else {
                throw APIFailure(
                    .parameter, "vertexes: pair \(vertices.count + 1) must be latitude,longitude, and a ; ends a pair")
            }
            let place = Degrees(latitude: latitude, longitude: longitude)
            vertices.append(try Self.checked(place, "vertexes: latitude", "vertexes: longitude"))
        }
        return vertices
    }

    private static func checked(
        _ place: Degrees, _ latitudeName: String, _ longitudeName: String
    ) throws(APIFailure) -> Degrees {
        guard (-90...90).contains(place.latitude) else {
            throw APIFailure(.parameter, "\(latitudeName) must be -90 to 90")
        }
        guard (-180...180).contains(place.longitude) else {
            throw APIFailure(.parameter, "\(longitudeName) must be -180 to 180")
        }
        return place
    }
}

/// Bounds of the published API.
enum FenceLimits {
    /// Metres.
    static let mostRadius = 5000.0
    static let polygonVertices = 3...100
    static let polylineVertices = 100
    /// Metres that a line does not reach.
    static let polylineLength = 500_000.0
    /// A longer line is refused before it is thinned: that takes up to the square of this number of distances, and of angles some
    /// seven times the square of ``PolylineThinning/mostBends``.
    static let mostGivenVertices = 2000
    /// Metres by which thinning may move a line.
    static let mostThinning = 50.0
    /// Names in one call that adds or removes watched entities, and the numbers in one list of fences.
    static let mostPersons = 100
    static let mostFences = 1000
    /// Fences that watch one entity alone, an entity.
    static let mostPrivate = 100
    /// Alarms of one answer that has no pages.
    static let mostAlarms = 10_000
}

/// The names of all districts, read again only when an import has changed them.
final class DistrictCache: Sendable {
    struct Known: Sendable {
        var version: Int64
        var names: DistrictNames
        /// By the numbers of `names`.
        var ids: [Int64]
    }

    private let known = Mutex<Known?>(nil)

    /// As the store has them now.
    func current(_ store: any DistrictStore) async throws(TrackStoreError) -> Known {
        let last = known.withLock { $0 }
        let (version, entries) = try await store.districts(unless: last?.version)
        if let last, entries == nil { return last }
        let found = entries ?? []
        let numbers = Dictionary(uniqueKeysWithValues: found.enumerated().map { ($0.element.id, $0.offset) })
        let names = DistrictNames(
            found.map { DistrictNames.Entry(name: $0.name, parent: $0.parent.flatMap { numbers[$0] }) })
        let read = Known(version: version, names: names, ids: found.map(\.id))
        known.withLock { $0 = read }
        return read
    }
}
