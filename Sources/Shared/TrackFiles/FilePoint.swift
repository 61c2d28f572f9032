/// One point of a file, as it stands there: what its texts mean is the reader's user's to say.
package struct FilePoint: Hashable, Sendable {
    /// What a file may say of a point, under the names of the control interface.
    package enum Field: String, Hashable, Sendable, CaseIterable {
        case time, latitude, longitude, speed, course, altitude, accuracy
        case objectName = "object_name"

        /// Other names, in small letters, in the order in which they count.
        private static let others: [(name: String, field: Self)] = [
            ("timestamp", .time), ("datetime", .time), ("loc_time", .time), ("date time", .time), ("date_time", .time),
            ("lat", .latitude), ("lon", .longitude), ("lng", .longitude), ("long", .longitude),
            ("heading", .course), ("bearing", .course),
            ("alt", .altitude), ("ele", .altitude), ("elevation", .altitude),
        ]

        /// The field that a column or a property of this name stands for; nil for an attribute. `rank`: of several names of one
        /// field, the one with the least counts.
        static func named(_ name: String) -> (field: Self, rank: Int)? {
            let name = name.lowercased()
            if let field = Self(rawValue: name) { return (field, 0) }
            return others.firstIndex { $0.name == name }.map { (others[$0].field, $0 + 1) }
        }
    }

    /// For people: `line 12`, or `feature 3, point 5`.
    package var place: String
    /// GPX: a point of a planned route, not of a track that was driven.
    package var isPlanned = false
    /// KML: a place that has no time, such as a pin: no place of a route.
    var isMark = false
    /// What is empty in the file is left out.
    package var fields: [Field: String] = [:]
    /// Columns and properties of other names.
    package var attributes: [String: String] = [:]
    /// The attributes of which the file says that they are texts: GeoJSON tells `"3"` from 3. Nil: the format has no types.
    package var texts: Set<String>?
    /// Why this is no point that can be used, or what of the file is lost here. Nil: nothing is known to be wrong.
    package var problem: String?

    /// The place at which a file can be read no farther, behind points that are good: a device that loses its power leaves such
    /// a file.
    static func end(_ error: TrackFileError, line: Int) -> FilePoint {
        let (place, detail) = ("line \(line)", error.description)
        let reason = detail.hasPrefix("\(place): ") ? String(detail.dropFirst(place.count + 2)) : detail
        return FilePoint(place: place, problem: "\(reason): the file is broken here, and only what is before is read")
    }

    init(place: String, problem: String? = nil) {
        self.place = place
        self.problem = problem
    }
}

/// What is wrong with a file and where; the file's name is for the caller to add.
package struct TrackFileError: Error, Hashable, CustomStringConvertible {
    /// A sentence with the place and the value.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    init(line: Int, _ detail: String) {
        description = "line \(line): \(detail)"
    }

    /// A text from outside, short enough for a message.
    static func quoted(_ text: some StringProtocol) -> String {
        text.unicodeScalars.count > 64 ? "\"\(text.prefix(64))…\"" : "\"\(text)\""
    }
}
