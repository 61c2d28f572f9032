internal import TrackModel

/// What points must carry: the values that were set last, in a plain dictionary, without those that ran out.
struct AttributeModel {
    /// The service's track columns.
    static let columns: [String: AttributeType] = ["fuel": .integer, "load": .double, "driver": .string]
    /// Needs no column. Empty: nobody knows it.
    static let floorKey = "floor"
    /// No column: points are stored without it.
    static let unknownKey = "colour"

    private var values: [String: (value: AttributeValue, expires: MonotonicTime?)] = [:]

    /// `expires`: nil for no limit.
    mutating func set(_ new: [String: AttributeValue], expires: MonotonicTime? = nil) {
        for (key, value) in new { values[key] = (value, expires) }
    }

    mutating func clear(_ keys: [String]?) {
        for key in keys ?? Array(values.keys) { values[key] = nil }
    }

    /// Of a point that is gathered now, as it is to be stored.
    func carried(at now: MonotonicTime) -> [String: AttributeValue] {
        values.filter { key, held in
            (Self.columns[key] != nil || key == Self.floorKey && held.value != .string(""))
                && held.expires.map { now < $0 } ?? true
        }.mapValues(\.value)
    }

    /// By which a fix is judged now.
    func floor(at now: MonotonicTime) -> String? {
        if case .string(let name)? = carried(at: now)[Self.floorKey] { name } else { nil }
    }
}
