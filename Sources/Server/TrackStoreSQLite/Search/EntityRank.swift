/// Where an entity that was found stands in the order of a search.
struct EntityRank {
    /// A text whose first bytes decide most comparisons at once.
    struct Text: Comparable {
        private let head: UInt64
        private let rest: UInt64
        private let text: String

        init(_ text: String) {
            self.text = text
            var (head, rest): (UInt64, UInt64) = (0, 0)
            for (index, byte) in text.utf8.prefix(16).enumerated() {
                if index < 8 {
                    head |= UInt64(byte) << (56 - 8 * index)
                } else {
                    rest |= UInt64(byte) << (120 - 8 * index)
                }
            }
            (self.head, self.rest) = (head, rest)
        }

        static func == (left: Self, right: Self) -> Bool {
            left.head == right.head && left.rest == right.rest && left.text.utf8.elementsEqual(right.text.utf8)
        }

        static func < (left: Self, right: Self) -> Bool {
            if left.head != right.head { return left.head < right.head }
            if left.rest != right.rest { return left.rest < right.rest }
            return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
        }
    }

    enum Key: Comparable {
        case number(Double)
        case text(Text)

        /// Nil for an empty text: it is no value.
        init?(_ text: String) {
            guard !text.isEmpty else { return nil }
            self = .text(Text(text))
        }
    }

    let entity: Int64
    /// Nil: sorted by the name alone, or the entity has no value and comes after those that have one.
    let key: Key?
    let name: Text

    func precedes(_ other: Self, isDescending: Bool) -> Bool {
        switch (key, other.key) {
        case (let key?, let other?) where key != other: isDescending ? key > other : key < other
        case (_?, nil): true
        case (nil, _?): false
        default: name < other.name
        }
    }
}
