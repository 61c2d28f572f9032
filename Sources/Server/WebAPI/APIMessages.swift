import TrackModel

/// One request as it came from the wire; nothing in it has been decoded.
package struct APIRequest: Sendable {
    /// Upper case, such as `GET`.
    package var method: String
    /// Path and query as sent, in origin form or absolute form.
    package var target: String
    /// Value of `Content-Type`.
    package var contentType: String?
    /// Value of `Access-Control-Request-Headers`, asked before a browser's cross-origin request.
    package var requestedHeaders: String?
    package var body: [UInt8]

    package init(
        method: String, target: String, contentType: String? = nil, requestedHeaders: String? = nil, body: [UInt8] = []
    ) {
        self.method = method
        self.target = target
        self.contentType = contentType
        self.requestedHeaders = requestedHeaders
        self.body = body
    }
}

package struct APIResponse: Sendable {
    /// 200 for every answer of the API, also for its errors: clients read the body of nothing else.
    package var httpStatus: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(httpStatus: Int = 200, headers: [(name: String, value: String)], body: [UInt8]) {
        self.httpStatus = httpStatus
        self.headers = headers
        self.body = body
    }
}

/// What an operator may choose about the API.
package struct WebAPIOptions: Sendable {
    /// Minutes east of UTC of the formatted times in answers, -1439...1439.
    package var zoneMinutes: Int
    /// Status of a list that matches nothing; the published service says 3003, some clients expect 0.
    package var emptyListStatus: EmptyListStatus
    /// True: a call made with another method than the documented one gets status 3.
    package var strictMethods: Bool
    /// Seconds that a point may be ahead of the server's clock.
    package var futureTolerance: Int64
    /// Seconds that a point may be old when it is uploaded; nil for any age.
    package var maximumAge: Int64?
    /// Points of one entity in the range of one unprocessed query.
    package var maximumRawPoints: Int
    /// Points of one entity in the range of one processed query.
    package var maximumProcessedPoints: Int

    package enum EmptyListStatus: String, Sendable, CaseIterable {
        case notFound = "3003"
        case success = "0"
    }

    package init(
        zoneMinutes: Int = 480, emptyListStatus: EmptyListStatus = .notFound, strictMethods: Bool = false,
        futureTolerance: Int64 = 600, maximumAge: Int64? = nil, maximumRawPoints: Int = 200_000,
        maximumProcessedPoints: Int = 20_000
    ) {
        self.zoneMinutes = zoneMinutes
        self.emptyListStatus = emptyListStatus
        self.strictMethods = strictMethods
        self.futureTolerance = futureTolerance
        self.maximumAge = maximumAge
        self.maximumRawPoints = maximumRawPoints
        self.maximumProcessedPoints = maximumProcessedPoints
    }
}

/// Whose data a request is about: decided by its key, or by the session it came through.
struct Caller: Sendable {
    let service: ServiceID
    /// The entity of the session; stands in for a missing `entity_name`.
    var entity: String?
}
