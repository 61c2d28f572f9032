internal import JSON

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
