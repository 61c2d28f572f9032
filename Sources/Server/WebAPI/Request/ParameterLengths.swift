import FenceFiles
import Geofencing
import TrackModel
import TrackStore

/// How long the values of parameters may be, in bytes of UTF-8. A value is measured before anything reads it: what a client may
/// send in one request, 8 MiB, is more than any of these texts has.
///
/// docs/web-api-parameters.md tells each bound; a test compares the two.
enum ParameterLengths {
    /// A number, a flag or a word, with white space around it.
    static let word = 64
    /// Keys of columns have no more.
    static let name = AttributeValue.maximumKeyBytes
    /// The value of a column.
    static let column = AttributeValue.maximumStringBytes

    /// By the name of the parameter, whatever the call.
    private static let table: [String: Int] = {
        var table = [
            // Of every call.
            "ak": 1024, "sn": word, "mcode": 256, "service_id": word, "callback": word,
            // Names and texts.
            "entity_name": EntityName.maximumBytes, "entity_desc": 128, "object_name": 128,
            FloorAttribute.key: FloorAttribute.maximumBytes, "fence_name": FenceDefinition.mostNameBytes,
            "column_key": name, "column_desc": 128, "query": SearchLimits.mostKeywordBytes,
            "keyword": DistrictNames.mostBytes, "url": 1024,
            // Lists. A name and its comma; a number of ten digits with a sign, a comma and some white space.
            "monitored_person": FenceLimits.mostPersons * (EntityName.maximumBytes + 32),
            "fence_ids": FenceLimits.mostFences * 16,
            "filter": EntityFilter.maximumNames * (EntityName.maximumBytes + 1) + 16_384,
            "vertexes": FenceLimits.mostGivenVertices * 64, "bounds": 256, "center": 128, "sortby": 256,
            "process_option": 1024, "point_list": APIRouter.maximumBodyBytes,
        ]
        let words = [
            "loc_time", "latitude", "longitude", "coord_type_input", "coord_type_output", "coord_type", "speed",
            "direction", "height", "radius", "page_index", "page_size", "return_type", "start_time", "end_time",
            "is_processed", "supplement_mode", "supplement_content", "low_speed_threshold", "sort_type", "explain",
            "gap_content", "stay_time", "stay_radius", "speeding_threshold", "harsh_acceleration_threshold",
            "harsh_breaking_threshold", "harsh_steering_threshold", "denoise", "offset", "fence_id", "include_stale",
            "alarm_source", "job_id", "time_range", "is_search", "column_type",
        ]
        for name in words { table[name] = word }
        return table
    }()

    /// Nil for a name that no call knows.
    static func most(of name: String) -> Int? { table[name] }

    /// Says what is wrong with a value that is too long; nil when it is not.
    static func problem(with value: String, of name: String, most: Int) -> String? {
        let bytes = value.utf8.count
        guard bytes > most else { return nil }
        return "\(name) has \(bytes) bytes, and \(most) are the most: send a shorter value"
    }

    /// Throws when a value among those with these names is too long.
    static func check(_ names: some Sequence<String>, of parameters: Parameters) throws(APIFailure) {
        for name in names {
            guard let value = parameters[name], let most = most(of: name) else { continue }
            if let problem = problem(with: value, of: name, most: most) { throw APIFailure(.parameter, problem) }
        }
    }
}
