/// The attribute `floor`: on which floor of a building the entity is. Every service keeps it, without a track column of its
/// own. A fence with a floor is judged by it.
package enum FloorAttribute {
    package static let key = "floor"
    /// The longest floor, bytes of UTF-8: that of a fence.
    package static let maximumBytes = 128

    /// The name of the floor. A number is the text of its digits: 2 and 2.0 are "2". Nil: the value is empty, so the floor is
    /// not known, or it is too long.
    package static func name(_ value: AttributeValue) -> String? {
        switch value {
        case .integer(let number): return String(number)
        case .double(let number): return Int64(exactly: number).map(String.init) ?? String(number)
        case .string(let text): return (1...maximumBytes).contains(text.utf8.count) ? text : nil
        }
    }
}
