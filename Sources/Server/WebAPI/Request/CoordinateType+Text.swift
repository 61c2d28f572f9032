import TrackModel

extension CoordinateType {
    /// A datum as clients name it: in any case, or by the number that it had in earlier versions of the API.
    init?(parsing text: String) {
        switch Parameters.trimmed(text).lowercased() {
        case "1": self = .wgs84
        case "2": self = .gcj02
        case "3": self = .bd09ll
        case let name: self.init(rawValue: name)
        }
    }
}
