package import Geodesy
internal import JSON
package import TrackAnalysis

/// The road engine's name for a way of travelling.
package enum RoadCosting: String, Hashable, Sendable, CaseIterable {
    case car = "auto"
    case truck
    case bus
    case motorScooter = "motor_scooter"
    case bicycle
    case pedestrian

    /// `driving` is what the operator's vehicles are. A car's costing matches trucks too; a truck's does not match
    /// roads that are closed to trucks.
    package static func of(_ mode: TravelMode, driving: RoadCosting = .car) -> RoadCosting {
        switch mode {
        case .automatic, .driving: driving
        case .riding: .bicycle
        case .walking: .pedestrian
        }
    }
}

/// Asks which roads the samples of a chunk lie on.
package enum TraceRequest {
    /// What is read of the answer: the engine sends nothing else.
    private static let attributes = [
        "shape", "edge.way_id", "edge.names", "edge.length", "edge.speed_limit", "edge.road_class", "edge.use",
        "edge.tunnel", "edge.toll", "edge.begin_shape_index", "edge.end_shape_index", "edge.source_percent_along",
        "edge.target_percent_along", "matched.point", "matched.type", "matched.edge_index",
        "matched.distance_along_edge", "matched.distance_from_trace_point",
    ]

    /// The engine refuses a larger accuracy.
    static let largestAccuracy = 100.0

    package static func request(for samples: [TrackSample], _ costing: RoadCosting) -> RoadRequest {
        var json = JSONWriter(wholeDoubles: .withoutPoint)
        json.reserve(80 * samples.count + 800)
        json.object {
            $0.array("shape") { for sample in samples { write(sample, to: &$0) } }
            $0.member("costing", costing.rawValue)
            // The default first tries to walk the points edge by edge, which fixes of a receiver never allow.
            $0.member("shape_match", "map_snap")
            $0.member("units", "kilometers")
            $0.object("filters") {
                $0.member("action", "include")
                $0.array("attributes") { for attribute in attributes { $0.string(attribute) } }
            }
        }
        return RoadRequest(method: .post, path: "/trace_attributes", body: json.bytes)
    }

    private static func write(_ sample: TrackSample, to json: inout JSONWriter) {
        json.object {
            $0.name("lat")
            $0.decimal(Int64(sample.latitudeE7), digits: 7)
            $0.name("lon")
            $0.decimal(Int64(sample.longitudeE7), digits: 7)
            // The time narrows the search, so every point has one.
            $0.name("time")
            $0.decimal(sample.time, digits: 3)
            if let radius = sample.radius, radius > 0 {
                $0.name("accuracy")
                $0.rounded(min(radius, largestAccuracy), digits: 1)
            }
        }
    }
}

/// The engine's answer to a ``TraceRequest``, checked: no index of it leads outside.
package struct TraceAnswer: Hashable, Sendable {
    let shape: [Degrees]
    package let edges: [RoadEdge]
    /// One for each point that was sent; nil for those that are unmatched.
    package let points: [TracePoint?]

    /// `count` points were sent.
    package init(_ reply: RoadReply, count: Int) throws(RoadFailure) {
        let json = try reply.object()
        guard let points = json["matched_points"]?.arrayValue, points.count == count,
            let edges = json["edges"]?.arrayValue,
            let text = json["shape"]?.stringValue, let shape = Polyline.places(text)
        else { throw .invalid }
        var read: [RoadEdge] = []
        read.reserveCapacity(edges.count)
        for edge in edges {
            guard let edge = RoadEdge(edge, vertices: shape.count) else { throw .invalid }
            read.append(edge)
        }
        self.shape = shape
        self.edges = read
        self.points = points.map { TracePoint($0, edges: read.count) }
    }
}

/// Where the engine puts one point.
package struct TracePoint: Hashable, Sendable {
    /// WGS 84.
    package let place: Degrees
    /// Of the answer's edges; checked.
    let edge: Int
    /// The share of the whole edge that lies before the place, 0 ... 1.
    let along: Double
    /// Metres from the point that was sent.
    package let distance: Double

    /// Nil for a point that is unmatched, or whose numbers cannot be true.
    ///
    /// The index of the edge may be missing, 2^64 - 1, or past the end (valhalla #3371, #3522).
    init?(_ json: JSONValue, edges: Int) {
        guard let type = json["type"]?.stringValue, type == "matched" || type == "interpolated",
            let edge = json["edge_index"]?.integerValue, edge >= 0, edge < edges,
            let latitude = json["lat"]?.doubleValue, (-90...90).contains(latitude),
            let longitude = json["lon"]?.doubleValue, (-180...180).contains(longitude),
            let along = json["distance_along_edge"]?.doubleValue, (-0.001...1.001).contains(along),
            let distance = json["distance_from_trace_point"]?.doubleValue, distance >= 0
        else { return nil }
        place = Degrees(latitude: latitude, longitude: longitude)
        self.edge = Int(edge)
        self.along = max(0, min(1, along))
        self.distance = distance
    }
}

/// A piece of road between two crossings, or the part of one that a path uses.
package struct RoadEdge: Hashable, Sendable {
    /// OpenStreetMap's way; 0 when the engine does not tell it.
    package let way: Int64
    /// In the order of the map, joined with "/"; nil for a road without a name.
    package let name: String?
    package let roadClass: RoadClass?
    /// km/h; nil when no limit is mapped, or when there is none.
    package let limit: Double?
    package let isToll: Bool
    package let isTunnel: Bool
    /// Vertices of the answer's shape: the first and the last of this edge.
    let shape: ClosedRange<Int>
    /// The part of the whole edge that the path uses, 0 ... 1.
    let source: Double
    let target: Double

    /// Nil when the shape does not have the edge's vertices.
    init?(_ json: JSONValue, vertices: Int) {
        guard let begin = json["begin_shape_index"]?.integerValue, let end = json["end_shape_index"]?.integerValue,
            begin >= 0, begin <= end, end < vertices
        else { return nil }
        shape = Int(begin)...Int(end)
        way = json["way_id"]?.integerValue ?? 0
        let names = json["names"]?.arrayValue?.compactMap(\.stringValue) ?? []
        name = names.isEmpty ? nil : names.joined(separator: "/")
        roadClass = json["road_class"]?.stringValue.flatMap(RoadClass.init(rawValue:))
        // The text "unlimited" is no number.
        limit = json["speed_limit"]?.doubleValue.flatMap { $0 > 0 && $0 < 1000 ? $0 : nil }
        isToll = json["toll"]?.boolValue ?? false
        isTunnel = json["tunnel"]?.boolValue ?? false
        source = Self.share(json["source_percent_along"]) ?? 0
        target = Self.share(json["target_percent_along"]) ?? 1
    }

    private static func share(_ value: JSONValue?) -> Double? {
        value?.doubleValue.flatMap { (0...1).contains($0) ? $0 : nil }
    }
}

/// How important a road is. The raw value is the engine's word.
package enum RoadClass: String, Hashable, Sendable, CaseIterable {
    case motorway
    case trunk
    case primary
    case secondary
    case tertiary
    case unclassified
    case residential
    case serviceOther = "service_other"
}

/// Google's encoding of a line with six decimals, latitude first, as the road engine writes shapes.
enum Polyline {
    /// Vertices beyond which a line is not read.
    static let most = 1 << 20

    /// Nil for a text that is none, or that leaves the earth.
    static func places(_ text: String) -> [Degrees]? {
        var bytes = text.utf8.makeIterator()
        var places: [Degrees] = []
        var (latitude, longitude): (Int64, Int64) = (0, 0)
        while let first = bytes.next() {
            guard let north = number(first, &bytes), let next = bytes.next(), let east = number(next, &bytes),
                places.count < most
            else { return nil }
            latitude += north
            longitude += east
            guard latitude.magnitude <= 90_000_000, longitude.magnitude <= 180_000_000 else { return nil }
            places.append(Degrees(latitude: Double(latitude) / 1e6, longitude: Double(longitude) / 1e6))
        }
        return places
    }

    /// A number of five bits a character, the lowest first, its sign in the lowest bit.
    private static func number(_ first: UInt8, _ bytes: inout String.UTF8View.Iterator) -> Int64? {
        var (value, shift): (Int64, Int64) = (0, 0)
        var character = first
        while true {
            guard (63...126).contains(character), shift <= 30 else { return nil }
            let bits = Int64(character - 63)
            value |= (bits & 31) << shift
            if bits < 32 { return value & 1 == 0 ? value >> 1 : ~(value >> 1) }
            shift += 5
            guard let next = bytes.next() else { return nil }
            character = next
        }
    }
}
