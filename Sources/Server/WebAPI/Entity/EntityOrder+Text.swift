import TrackModel
import TrackStore

extension EntityOrder {
    /// `field:asc` or `field:desc`; `=` for `:` too. Without a direction ascending, without anything by the names.
    init(parsing text: String?, columns: Set<String>, mayHaveDistances: Bool = false) throws(APIFailure) {
        let text = Parameters.trimmed(text ?? "")
        guard !text.isEmpty else {
            self.init()
            return
        }
        let parts = TextParts.split(text, at: ":", "=", most: 1, keepsEmpty: true).map { Parameters.trimmed($0) }
        let isDescending: Bool
        switch parts.count > 1 ? parts[1].lowercased() : "" {
        case "", "asc": isDescending = false
        case "desc": isDescending = true
        default: throw APIFailure(.parameter, "sortby is one field, a colon, and asc or desc")
        }
        let key: EntityOrder.Key
        switch parts[0] {
        case "entity_name": key = .name
        case "entity_desc": key = .description
        case "loc_time": key = .time
        case "distance" where mayHaveDistances: key = .distance
        case let name where columns.contains(name): key = .value(name)
        default:
            let fields = "entity_name, entity_desc, loc_time" + (mayHaveDistances ? ", distance" : "")
            throw APIFailure(.parameter, "sortby: the field is one of \(fields), or an entity column")
        }
        self.init(key, isDescending: isDescending)
    }
}
