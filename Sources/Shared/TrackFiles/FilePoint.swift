/// One point of a file, as it stands there: what its texts mean is the reader's user's to say.
package struct FilePoint: Hashable, Sendable {
    /// What a file may say of a point, under the names of the control interface.
    package enum Field: String, Hashable, Sendable, CaseIterable {
        case time, latitude, longitude, speed, course, altitude, accuracy
        case objectName = "object_name"
    }

    /// For people: `line 12`, or `feature 3, point 5`.
    package var place: String
    /// GPX: a point of a planned route, not of a track that was driven.
    package var isPlanned = false
    /// What is empty in the file is left out.
    package var fields: [Field: String] = [:]
    /// Columns and properties of other names.
    package var attributes: [String: String] = [:]
    /// The attributes of which the file says that they are texts: GeoJSON tells `"3"` from 3. Nil: the format has no types.
    package var texts: Set<String>?

    init(place: String) {
        self.place = place
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
}
