internal import JSON

/// A point, or one line, of a GeoJSON text, with the properties of its feature.
struct GeoJSONShape {
    let number: Int
    let isLine: Bool
    let coordinates: [JSONValue]
    let properties: [String: JSONValue]
    /// Values for each place, by their name.
    let lists: [(name: String, values: [JSONValue])]
    /// There are times, and it is not known which place each belongs to.
    var isTorn: String?
    /// How many of the places have a time, and why the others have none; nil: nothing is known of it.
    var timed: (count: Int, reason: String)?
    /// What of the feature is not read.
    var losses: [String]

    /// Places, and before them what is lost.
    var count: Int { losses.count + coordinates.count }

    func point(_ index: Int) -> FilePoint {
        guard index >= losses.count else { return FilePoint(place: "shape \(number)", problem: losses[index]) }
        let index = index - losses.count
        let which = coordinates.count == 1 ? "" : ", point \(index + 1)"
        var point = FilePoint(place: "shape \(number)\(which)", problem: isTorn)
        if let timed, index >= timed.count { point.problem = point.problem ?? timed.reason }
        guard point.problem == nil else { return point }
        let numbers = (coordinates[index].arrayValue ?? []).map(\.doubleValue)
        guard numbers.count >= 2, let longitude = numbers[0], let latitude = numbers[1] else {
            point.problem =
                "\(TrackFileError.quoted(coordinates[index].description)) is no place: [longitude, latitude] is needed"
            return point
        }
        point.texts = []
        var ranks: [FilePoint.Field: Int] = [:]
        for (key, value) in properties.sorted(by: { $0.key < $1.key }) where key != "coordinateProperties" {
            set(key, value, in: &point, &ranks, isOfPlace: false)
        }
        for (name, values) in lists { set(name, values[index], in: &point, &ranks, isOfPlace: true) }
        point.fields[.latitude] = String(latitude)
        point.fields[.longitude] = String(longitude)
        if numbers.count > 2, let altitude = numbers[2] { point.fields[.altitude] = String(altitude) }
        return point
    }

    /// A list of values, one a place, may say another type than the property of the same name: the last one counts.
    private func set(
        _ key: String, _ value: JSONValue, in point: inout FilePoint, _ ranks: inout [FilePoint.Field: Int],
        isOfPlace: Bool
    ) {
        guard let text = Self.text(value) else { return }
        let named = GeoJSONLists.times.contains(key) && isOfPlace ? (.time, 0) : FilePoint.Field.named(key)
        if let (field, rank) = named, isOfPlace || rank < ranks[field] ?? .max {
            ranks[field] = isOfPlace ? 0 : rank
            point.fields[field] = text
            return
        }
        point.attributes[key] = text
        if case .string = value { point.texts?.insert(key) } else { point.texts?.remove(key) }
    }

    /// Nil for what is no single value.
    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .null, .array, .object: nil
        case .string(let text): text.isEmpty ? nil : text
        case .bool, .integer, .double: value.description
        }
    }
}

/// The lists of a feature that have a value for each place, taken apart for its lines.
struct GeoJSONLists {
    static let times = ["coordTimes", "times"]

    private var lines: [[(name: String, values: [JSONValue])]]
    private(set) var isTorn: String?
    private(set) var losses: [String] = []
    /// Of each line: how far its longest list of times goes, and what is to be told of the rest.
    private var times: [(count: Int, reason: String)?]

    /// `lengths`: places of each line.
    init(_ properties: [String: JSONValue], lengths: [Int]) {
        (lines, times) = (lengths.map { _ in [] }, lengths.map { _ in nil })
        var given = Self.times.compactMap { key in properties[key].map { (key, $0) } }
        for (key, value) in (properties["coordinateProperties"]?.objectValue ?? [:]).sorted(by: { $0.key < $1.key }) {
            given.append((key, value))
        }
        for (name, value) in given {
            guard let list = value.arrayValue else { continue }
            let isTime = Self.times.contains(name) || FilePoint.Field.named(name)?.field == .time
            guard let parts = Self.parts(of: list, lengths, mayBeShort: isTime) else {
                let reason =
                    "\(TrackFileError.quoted(name)) has \(Self.count(list)) values, and there are \(lengths.reduce(0, +)) places"
                if isTime {
                    isTorn = isTorn ?? "\(reason): which time belongs to which place is not known"
                } else {
                    losses.append("\(reason): the list is not read")
                }
                continue
            }
            for (index, values) in parts.enumerated() {
                let missing = lengths[index] - values.count
                lines[index].append((name, values + Array(repeating: .null, count: missing)))
                guard isTime, values.count >= times[index]?.count ?? 0 else { continue }
                times[index] = (
                    values.count,
                    "\(TrackFileError.quoted(name)) has \(values.count) times, and there are \(lengths[index]) places of its line: this one has none"
                )
            }
        }
    }

    func ofLine(_ index: Int) -> [(name: String, values: [JSONValue])] { lines[index] }

    /// How many places of a line have a time, and why the others have none; nil: no list says it.
    func timed(_ index: Int) -> (count: Int, reason: String)? { times[index] }

    private static func count(_ list: [JSONValue]) -> Int { list.reduce(0) { $0 + ($1.arrayValue?.count ?? 1) } }

    /// A list for each line, whether they stand in lists of their own or one behind the other; nil when they do not fit.
    /// `mayBeShort`: a list of one line may end before its line: its values belong to the first places.
    private static func parts(of list: [JSONValue], _ lengths: [Int], mayBeShort: Bool) -> [[JSONValue]]? {
        let nested = list.compactMap(\.arrayValue)
        if nested.count == list.count, nested.map(\.count) == lengths { return nested }
        let each = lengths.count == 1 && nested.isEmpty ? [list] : nested.count == list.count ? nested : []
        let own = each.contains { $0.contains { $0.arrayValue != nil } } ? [] : each
        if mayBeShort, own.count == lengths.count, zip(own, lengths).allSatisfy({ $0.count <= $1 }) { return own }
        guard nested.isEmpty, list.count == lengths.reduce(0, +) else { return nil }
        var (rest, parts) = (list[...], [[JSONValue]]())
        for length in lengths {
            parts.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return parts
    }
}
