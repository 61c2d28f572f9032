import Dispatch
import JSON
import Logging
import Synchronization
import TrackModel
import TrackStore
import TrackTestKit

@testable import WebAPI

/// The Web API: what anybody may send to it.
enum WebProperties {
    @Sendable static func checkJSON(_ input: [UInt8]) throws {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.value(of: input, .requests)
        } catch {
            try require(!error.detail.isEmpty, "an error without a reason")
            try require((0...input.count).contains(error.offset), "an error outside the text")
            return try require((try? texts(of: input)) == nil, "only one of two readers refuses")
        }
        let written = written(value)
        try require(written.count <= 16 + 8 * input.count, "the text grows without bound")
        // A whole number of a double is written as an integer: the texts are compared, not the values.
        try require(Self.written(try JSONReader.value(of: written, .requests)) == written, "a value changes on its way")
        guard let texts = try texts(of: input) else { return }
        for (name, text) in texts {
            let size = name.utf8.count + (text?.utf8.count ?? 0)
            try require(size <= 16 + 8 * input.count, "a member grows without bound")
        }
        try require(Set(texts.map(\.name)) == Set(value.objectValue?.keys.map { $0 } ?? []), "members differ")
    }

    private static func texts(of input: [UInt8]) throws -> [(name: String, text: String?)]? {
        try JSONReader.texts(of: input, .requests, wholeDoubles: .withoutPoint)
    }

    private static func written(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        writer.value(value)
        return writer.bytes
    }

    /// First byte: which reader gets the rest.
    @Sendable static func checkParameters(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let first = reader.byte()
        let choice = first % 6
        let bytes = Array(reader.rest)
        let text = String(decoding: bytes, as: UTF8.self)
        // So that the kept inputs go on meaning what they meant.
        if (0xF0...0xF7).contains(first) { return try checkSearch(text) }
        switch choice {
        case 0: try checkForm(text)
        case 1: try checkMultipart(bytes)
        case 2:
            let option = ProcessOption(parsing: text)
            try require((0...5).contains(option.denoiseGrade), "a grade")
            try require(option == ProcessOption(parsing: text), "one option, read twice")
        case 3:
            if let filter = try accepted({ () throws(APIFailure) in try EntityFilter(parsing: text) }) {
                try require(filter.names?.contains("") != true, "an empty name")
                try require(
                    filter.activeSince == nil || filter.inactiveSince == nil, "two times that exclude each other")
            }
        case 4:
            let target = RequestTarget(text)
            try require(target.endpoint?.hasPrefix("/") != true, "an endpoint with a slash")
            try require(target.endpoint == RequestTarget(target.usualPath).endpoint, "the usual path leads elsewhere")
        default: try checkPoint(bytes)
        }
    }

    /// The order of a search and the places of its area.
    private static func checkSearch(_ text: String) throws {
        let columns: Set<String> = ["team"]
        if let order = try accepted({ () throws(APIFailure) in try EntityOrder(parsing: text, columns: columns) }) {
            try require(order.key != .distance, "a distance without a centre")
            if case .value(let key) = order.key { try require(columns.contains(key), "an unknown column") }
        }
        guard
            let places = try accepted({ () throws(APIFailure) in
                try PlaceList.coordinates(text, "vertexes", most: 100)
            })
        else { return }
        try require(places.count <= 100, "too many places")
        guard let first = places.first, let second = places.last else { return }
        for type in CoordinateType.allCases {
            let box = SearchBox(from: first, to: second, type: type)
            for corner in [first, second] {
                let place = KnownPlace(corner, type)
                try require(box.contains(place), "a box without its corner \(place)")
                let wgs84 = place.wgs84
                let extent = box.extent
                try require(
                    extent.latitudes.contains(wgs84.latitudeE7)
                        && extent.longitudes.contains { $0.contains(wgs84.longitudeE7) },
                    "a box whose extent lacks its corner \(place)")
            }
        }
    }

    private static func checkForm(_ text: String) throws {
        for style in FormEncoding.Style.allCases {
            let encoded = FormEncoding.encoded(text.utf8, style)
            try require(encoded.count <= 3 * text.utf8.count, "the text grows without bound")
            let decoded = FormEncoding.decoded(encoded).map { Array($0.utf8) }
            try require(decoded == Array(text.utf8), "\(style) changes a text")
        }
        guard let pairs = try accepted({ () throws(APIFailure) in try FormEncoding.pairs(text) }) else { return }
        let parameters = Parameters(pairs.map { ($0.key, $0.value) })
        for key in ["service_id", "page_index", "latitude", "a"] {
            _ = try accepted { () throws(APIFailure) in try parameters.integer(key) }
            _ = try accepted { () throws(APIFailure) in try parameters.double(key) }
            _ = try accepted { () throws(APIFailure) in try parameters.flag(key) }
        }
        let page = parameters.page(defaultSize: 100, maximumSize: 1000)
        try require(page.index > 0 && (1...1000).contains(page.size), "page \(page)")
    }

    /// The first line is the content type.
    private static func checkMultipart(_ bytes: [UInt8]) throws {
        let type = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        let body = Array(bytes.drop { $0 != 0x0A }.dropFirst())
        guard let boundary = Multipart.boundary(of: type) else { return }
        try require((1...70).contains(boundary.utf8.count), "a boundary of \(boundary.utf8.count) bytes")
        let pairs = try accepted { () throws(APIFailure) in try Multipart.pairs(body, boundary: boundary) } ?? []
        try require(
            pairs.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } <= body.count,
            "more came out than was in the body")
    }

    private static let columns = [
        ColumnRecord(key: "fuel", type: .double, created: now), ColumnRecord(key: "door", type: .integer, created: now),
        ColumnRecord(key: "driver", type: .string, created: now),
    ]

    private static func checkPoint(_ bytes: [UInt8]) throws {
        guard let value = try? JSONReader.value(of: bytes, .requests) else { return }
        let uploaded = UploadedPoint(value)
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        var problem: String?
        do throws(APIFailure) {
            _ = try uploaded.entityName()
            let point = try uploaded.point(now: now, options: WebAPIOptions(maximumAge: 86_400), columns: columns)
            if !(0..<3600).contains(point.fix.course ?? 0) || point.fix.speed ?? 0 < 0 {
                problem = "a point out of its ranges was taken"
            }
            // What it came to must fit an answer.
            writer.object {
                PointWriter(coordinateType: .gcj02, clock: WallClock(zoneMinutes: 480), schema: columns.schema)
                    .write(point, to: &$0)
            }
        } catch {
            if error.detail.isEmpty { problem = "a refusal without a reason" }
            writer.object { uploaded.writeEcho(error: error.detail, to: &$0) }
            if try JSONReader.value(of: writer.bytes, .requests)["error"] == nil { problem = "no echo" }
        }
        try require(problem == nil, problem ?? "")
        try require((try? JSONReader.value(of: writer.bytes, .requests)) != nil, "an answer that is not JSON")
    }

    /// Nil when the call was refused, with a status that says so.
    private static func accepted<Value>(_ body: () throws(APIFailure) -> Value) throws(Violation) -> Value? {
        do throws(APIFailure) {
            return try body()
        } catch {
            try require(error.status != .success && !error.message.isEmpty, "a refusal that looks like success")
            return nil
        }
    }

    // MARK: Whole requests

    private static let now = Timestamp(seconds: 1_772_677_900)
    private static let key = "demo-ak"

    /// First byte: 0...1 the method, 2...3 the content type, 4 whether the key and service are added, 5 whether the
    /// service wants signatures. The target ends with its line, the rest is the body.
    @Sendable static func checkRequest(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let choice = Int(reader.byte())
        var target = String(decoding: reader.rest.prefix { $0 != 0x0A }, as: UTF8.self)
        if choice & 16 != 0 { target += (target.contains("?") ? "&" : "?") + "ak=\(key)&service_id=1" }
        let request = APIRequest(
            method: ["GET", "POST", "OPTIONS", "HEAD"][choice & 3], target: target,
            contentType: [
                "application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=b", nil,
            ][choice >> 2 & 3], requestedHeaders: target,
            body: Array(reader.rest.drop { $0 != 0x0A }.dropFirst()))
        let response = try answer(to: request, secret: choice & 32 != 0 ? "secret" : nil)
        try require(response.body.count <= 16_384 + 16 * input.count, "the answer grows without bound")
        guard request.method != "OPTIONS" else { return }
        guard response.headers.contains(where: { $0.value.hasPrefix("application/json") }) else {
            try require(
                response.body.starts(with: "/**/".utf8) && response.body.last == UInt8(ascii: ")"), "no callback")
            return
        }
        guard let members = try texts(of: response.body) else {
            throw Violation(description: "the answer is no object")
        }
        try require(members.prefix(2).map(\.name) == ["status", "message"], "the answer has no status")
        guard let status = members.first?.text.flatMap({ Int64($0) }) else { throw Violation(description: "no status") }
        try require(status != 1, "an internal error")
    }

    private static func answer(to request: APIRequest, secret: String?) throws -> APIResponse {
        let outcome = Outcome()
        Task.detached {
            let result: Result<APIResponse, any Error>
            do {
                let store: any TrackStore = TestStore()
                let service = try await store.createService(named: "demo", at: now)
                try await store.addKey(AccessKey(key).hash, secret: secret, to: service.id, replacing: false, at: now)
                let running = RunningIngest(store)
                let router = APIRouter(
                    store: store, ingest: running.writer, options: WebAPIOptions(),
                    logger: Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() }), now: { now })
                result = .success(await router.respond(to: request))
                withExtendedLifetime(running) {}
            } catch {
                result = .failure(error)
            }
            outcome.result.withLock { $0 = result }
            outcome.done.signal()
        }
        outcome.done.wait()
        guard let result = outcome.result.withLock({ $0 }) else { throw Violation(description: "no answer") }
        return try result.get()
    }
}

/// What a task came to, for a thread that waits for it.
private final class Outcome: Sendable {
    let result = Mutex<Result<APIResponse, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
}
