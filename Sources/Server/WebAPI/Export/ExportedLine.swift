import JSON
import TrackFiles
package import TrackModel
package import TrackStore

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
