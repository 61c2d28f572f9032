internal import JSON

/// The status and the body of an answer of the road engine, before it is read.
package struct RoadReply: Hashable, Sendable {
    /// Bytes of a body beyond which it is not read.
    package static let largestBody = 8 << 20

    static let rules = JSONRules(
        maximumBytes: largestBody, maximumDepth: 16, maximumValues: 1 << 19, repeatedMembers: .lastCounts,
        largeIntegers: .doubles)

    /// Numbers of the engine's errors that mean "no roads here": not connected, no candidate, every pair too far
    /// apart, nothing matched.
    private static let noRoads: Set<Int64> = [170, 171, 172, 443, 444]
    /// "No path could be found".
    private static let noWay: Int64 = 442
    /// The same in the answers of the other form.
    private static let noRoadNames: Set<String> = ["NoSegment", "NoMatch"]
    private static let noWayName = "NoRoute"

    package let status: Int
    package let body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }

    /// The object of a good answer.
    func object() throws(RoadFailure) -> JSONValue {
        guard body.count <= Self.largestBody, status < 500 else { throw .invalid }
        guard let value = try? JSONReader.value(of: body, Self.rules), value.objectValue != nil else { throw .invalid }
        if status == 200 { return value }
        if let code = value["error_code"]?.integerValue {
            if Self.noRoads.contains(code) { throw .noMapHere }
            if code == Self.noWay { throw .noWay }
        }
        if let name = value["code"]?.stringValue {
            if Self.noRoadNames.contains(name) { throw .noMapHere }
            if name == Self.noWayName { throw .noWay }
        }
        throw (400..<500).contains(status) ? .rejected : .invalid
    }
}
