internal import JSON
package import TrackModel

/// One call of the road engine: an HTTP request without its address.
package struct RoadRequest: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable {
        case get = "GET"
        case post = "POST"
    }

    package let method: Method
    /// Begins with a slash.
    package let path: String
    /// JSON, or empty.
    package let body: [UInt8]

    /// Whether the engine is there, and which map it has.
    package static let status = RoadRequest(method: .get, path: "/status", body: [])
}

/// The way to the road engine: one request out, one answer back.
package protocol RoadTransport: Sendable {
    /// Returns or throws at most about `timeout` milliseconds later. An answer of more than ``RoadReply/largestBody``
    /// bytes is `invalid`. Every status is an answer.
    func exchange(_ request: RoadRequest, within timeout: Int64) async throws(RoadFailure) -> RoadReply
}

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

/// Why a call of the road engine gave nothing.
package enum RoadFailure: Error, Hashable, Sendable, CaseIterable {
    /// No answer in time.
    case timeout
    /// No connection, or the connection broke.
    case refused
    /// Too many calls wait already.
    case busy
    /// The circuit breaker is open.
    case open
    /// The answer cannot be read, or the engine says that it failed.
    case invalid
    /// The engine does not take the request: its limits are tighter than ours.
    case rejected
    /// The engine works and knows no roads there.
    case noMapHere
    /// The engine knows roads at both ends, and no way between them for this way of travelling.
    case noWay

    /// The word in answers and metrics.
    package var name: String {
        switch self {
        case .timeout: "timeout"
        case .refused: "refused"
        case .busy: "busy"
        case .open: "open"
        case .invalid, .rejected: "invalid"
        case .noMapHere: "no_map_here"
        case .noWay: "no_way"
        }
    }

    /// The engine works and answered; it has nothing to give.
    var isEmptyAnswer: Bool { self == .noMapHere || self == .noWay }

    /// Whether the engine itself is in trouble, which the circuit breaker counts. An answer, whatever it says, is none.
    package var isTrouble: Bool {
        switch self {
        case .timeout, .refused, .invalid: true
        case .busy, .open, .rejected, .noMapHere, .noWay: false
        }
    }
}

/// The engine's answer to ``RoadRequest/status``.
package struct EngineStatus: Hashable, Sendable {
    /// Such as "3.9.1".
    package let version: String
    /// Seconds since 1970; 0 when the engine does not tell it. Another number is another map.
    package let tilesModified: Int64
    package let actions: [String]

    /// What the client needs.
    package static let neededActions = ["trace_attributes", "route", "locate"]

    package init(_ reply: RoadReply) throws(RoadFailure) {
        let json = try reply.object()
        guard let version = json["version"]?.stringValue else { throw .invalid }
        self.version = version
        tilesModified = json["tileset_last_modified"]?.integerValue ?? 0
        actions = json["available_actions"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }
}

/// Asks which roads there are around places.
package enum LocateRequest {
    /// Metres from a place within which a road counts: a yard or a field may be so large.
    static let reach: Int64 = 2000

    package static func request(for places: [Coordinate]) -> RoadRequest {
        var json = JSONWriter(wholeDoubles: .withoutPoint)
        json.object {
            $0.array("locations") { list in
                for place in places {
                    list.object {
                        $0.name("lat")
                        $0.rounded(place.latitude, digits: 7)
                        $0.name("lon")
                        $0.rounded(place.longitude, digits: 7)
                        $0.member("search_cutoff", reach)
                    }
                }
            }
            $0.member("costing", RoadCosting.car.rawValue)
        }
        return RoadRequest(method: .post, path: "/locate", body: json.bytes)
    }

    /// How many of the places have a road. Throws for an answer that is none.
    package static func known(_ reply: RoadReply) throws(RoadFailure) -> Int {
        if reply.status == 200, let value = try? JSONReader.value(of: reply.body, RoadReply.rules),
            let list = value.arrayValue
        {
            return list.count { $0["edges"]?.arrayValue?.isEmpty == false }
        }
        // An engine without any tiles may answer an error instead of a list.
        do throws(RoadFailure) {
            _ = try reply.object()
        } catch RoadFailure.noMapHere {
            return 0
        }
        throw .invalid
    }
}
