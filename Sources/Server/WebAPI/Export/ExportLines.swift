import JSON
package import TrackAnalysis
import TrackFiles
package import TrackModel
package import TrackStore

/// The content of an export's file: one JSON object a line for each point, every value of `custom_data` a text.
package struct ExportLines: Sendable {
    private let coordinateType: CoordinateType
    private let schema: AttributeSchema

    /// `columns`: the service's track columns.
    package init(_ order: ExportOrder, columns: [ColumnRecord]) {
        coordinateType = order.coordinateType
        schema = columns.schema
    }

    /// The name of the file in the zip file of a job.
    package static func fileName(of job: ExportRecord) -> String { ExportLink.name(of: job) + ".json" }

    /// `gaps`: of the track, by the times of the points that end them.
    package func text(
        _ entity: ExportedEntity, _ points: [StoredPoint], _ gaps: [Timestamp: [TrackGap]] = [:]
    ) -> [UInt8] {
        var lines: [UInt8] = []
        // Some 250 bytes a point are usual.
        lines.reserveCapacity(260 * points.count)
        for stored in points {
            var line = JSONWriter(wholeDoubles: .withoutPoint)
            line.reserve(320)
            line.object {
                write(stored, of: entity, to: &$0)
                if stored.point.continuity != nil, let ended = gaps[stored.point.fix.time] { $0.gaps(ended) }
            }
            lines += line.bytes
            lines.append(UInt8(ascii: "\n"))
        }
        return lines
    }

    private func write(_ stored: StoredPoint, of entity: ExportedEntity, to line: inout JSONWriter) {
        line.member("entity_id", entity.number)
        line.member("entity_name", entity.name)
        let place = Place(stored.point)
        line.name("loc")
        line.object { object in
            place.write(as: coordinateType, to: &object)
            object.member("coord_type", (place.isInChina ? coordinateType : .wgs84).exportName)
        }
        line.member("loc_time", stored.point.fix.time.seconds)
        line.member("create_time", stored.received.seconds)
        line.name("custom_data")
        line.object { writeData(of: stored.point, to: &$0) }
    }

    private func writeData(of point: TrackPoint, to object: inout JSONWriter) {
        let fix = point.fix
        if let speed = fix.speed {
            object.member("speed", Self.text { Speed.write(centimetresPerSecond: speed, to: &$0) })
        }
        if let course = fix.course { object.member("direction", "\(course / 10)") }
        if let accuracy = fix.accuracy { object.member("radius", Self.text { $0.decimal(Int64(accuracy), digits: 1) }) }
        if let altitude = fix.altitude { object.member("height", Self.text { $0.decimal(Int64(altitude), digits: 1) }) }
        if let name = point.objectName { object.member("object_name", name) }
        for (key, value) in point.attributes.sorted(by: { $0.key < $1.key }) {
            guard let value = schema.kept(value, under: key) else { continue }
            switch value {
            case .integer(let value): object.member(key, "\(value)")
            case .double(let value): object.member(key, Self.text { $0.double(value) })
            case .string(let value): object.member(key, value)
            }
        }
    }

    private static func text(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(wholeDoubles: .withoutPoint)
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension CoordinateType {
    var exportName: String {
        switch self {
        case .wgs84: "COORD_TYPE_WGS84LL"
        case .gcj02: "COORD_TYPE_GCJ02LL"
        case .bd09ll: "COORD_TYPE_BD09LL"
        }
    }
}

/// A point of an export's file, of this server or of the published service.
package struct ExportedLine: Hashable, Sendable {
    package let entity: String
    package let point: TrackPoint
    /// Members of `custom_data` that belong to no field and no column.
    package let unknown: Set<String>
    /// The line has a height that cannot be, and the point has none.
    package let hasImpossibleHeight: Bool

    /// Why a line is no point: names the value and the rule.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    /// One point is small; a line that is longer is none.
    package static let maximumBytes = 65_536

    private static let rules = JSONRules(
        maximumBytes: maximumBytes, maximumDepth: 8, maximumValues: 1000, repeatedMembers: .lastCounts,
        largeIntegers: .doubles)

    /// `columns`: the service's track columns. `now`: by the clock of the server that reads.
    package init(_ line: [UInt8], columns: [ColumnRecord], now: Timestamp) throws(Failure) {
        let value: JSONValue
        do {
            value = try JSONReader.value(of: line, Self.rules)
        } catch {
            throw Failure(description: "it is no JSON object: \(error)")
        }
        guard case .object(let members) = value, case .object(let place)? = members["loc"] else {
            throw Failure(description: "it has no \"loc\": each line is an object with entity_name, loc and loc_time")
        }
        var fields: [String: JSONValue] = [:]
        if case .object(let data)? = members["custom_data"] { fields = data }
        let known = Set(UploadedPoint.fields + columns.map(\.key))
        unknown = Set(fields.keys.filter { !known.contains($0) })
        for name in ["entity_name", "loc_time"] { fields[name] = members[name] }
        for name in ["latitude", "longitude"] { fields[name] = place[name] }
        fields["coord_type_input"] = try Self.datum(place["coord_type"])
        let height = fields["height"].map { $0.stringValue ?? $0.description } ?? ""
        // The place is as good without a height that cannot be.
        hasImpossibleHeight = !FileNumber.isUnknown(height) && FileNumber.height(height) == nil
        if FileNumber.height(height) == nil { fields["height"] = nil }
        let uploaded = UploadedPoint(.object(fields))
        do throws(APIFailure) {
            entity = try uploaded.entityName()
            point = try uploaded.point(now: now, options: WebAPIOptions(), columns: columns)
        } catch {
            throw Failure(description: error.detail.isEmpty ? "\(error.status)" : error.detail)
        }
    }

    private static func datum(_ value: JSONValue?) throws(Failure) -> JSONValue {
        guard let value else { return .string(CoordinateType.bd09ll.rawValue) }
        for type in CoordinateType.allCases where value == .string(type.exportName) { return .string(type.rawValue) }
        let names = CoordinateType.allCases.map(\.exportName).joined(separator: ", ")
        throw Failure(description: "coord_type must be one of \(names)")
    }
}
