/// A condition over attributes. Its truth may be unknown: nil.
indirect enum WhereCondition: Hashable, Sendable {
    enum Operand: Hashable, Sendable {
        case column(String, position: Int)
        case value(WhereValue)
    }

    enum Comparison: Hashable, Sendable {
        case equal, unequal, less, lessOrEqual, greater, greaterOrEqual

        func holds(_ order: WhereValue.Order) -> Bool {
            switch self {
            case .equal: order == .equal
            case .unequal: order != .equal
            case .less: order == .less
            case .lessOrEqual: order != .greater
            case .greater: order == .greater
            case .greaterOrEqual: order != .less
            }
        }
    }

    case all([WhereCondition])
    case any([WhereCondition])
    case not(WhereCondition)
    case compare(Operand, Comparison, Operand, position: Int)
    case between(Operand, Operand, Operand, position: Int)
    case isIn(Operand, [WhereValue], position: Int)
    case like(Operand, LikePattern, position: Int)
    case isNull(Operand)

    /// `value` gives the value of a column's name; nil for NULL.
    func truth(_ value: (String, Int) throws(FenceFileError) -> WhereValue?) throws(FenceFileError) -> Bool? {
        switch self {
        case .all(let conditions):
            var truth: Bool? = true
            for condition in conditions {
                switch try condition.truth(value) {
                case false?: return false
                case nil: truth = nil
                case true?: break
                }
            }
            return truth
        case .any(let conditions):
            var truth: Bool? = false
            for condition in conditions {
                switch try condition.truth(value) {
                case true?: return true
                case nil: truth = nil
                case false?: break
                }
            }
            return truth
        case .not(let condition): return try condition.truth(value).map { !$0 }
        case .compare(let left, let comparison, let right, let position):
            return try Self.order(left.value(value), right.value(value), position).map(comparison.holds)
        case .between(let operand, let low, let high, let position):
            let middle = try operand.value(value)
            let above = try Self.order(middle, low.value(value), position).map { $0 != .less }
            let below = try Self.order(middle, high.value(value), position).map { $0 != .greater }
            if above == false || below == false { return false }
            return above == nil || below == nil ? nil : true
        case .isIn(let operand, let values, let position):
            guard let found = try operand.value(value) else { return nil }
            for candidate in values where try Self.order(found, candidate, position) == .equal { return true }
            return false
        case .like(let operand, let pattern, let position):
            guard let found = try operand.value(value) else { return nil }
            guard case .text(let text) = found else {
                throw WhereClause.error(position, "LIKE compares texts, and \(found.description) is \(found.kind)")
            }
            return pattern.matches(text)
        case .isNull(let operand): return try operand.value(value) == nil
        }
    }

    private static func order(
        _ left: WhereValue?, _ right: WhereValue?, _ position: Int
    ) throws(FenceFileError) -> WhereValue.Order? {
        guard let left, let right else { return nil }
        guard let order = WhereValue.order(left, right) else {
            throw WhereClause.error(
                position,
                "\(left.kind), \(left.description), cannot be compared with \(right.kind), \(right.description)")
        }
        return order
    }
}

extension WhereCondition.Operand {
    func value(_ value: (String, Int) throws(FenceFileError) -> WhereValue?) throws(FenceFileError) -> WhereValue? {
        switch self {
        case .column(let name, let position): try value(name, position)
        case .value(let value): value
        }
    }
}

/// What LIKE compares with: `%` stands for any text, `_` for one character.
struct LikePattern: Hashable, Sendable {
    static let mostCharacters = 256

    private let scalars: [Unicode.Scalar]

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    var isTooLong: Bool { scalars.count > Self.mostCharacters }

    /// With case.
    func matches(_ text: String) -> Bool {
        let text = Array(text.unicodeScalars)
        var (index, place) = (0, 0)
        /// Behind the last `%`, and where its text ends at the earliest.
        var retry: (index: Int, place: Int)?
        while place < text.count {
            if index < scalars.count, scalars[index] == "%" {
                index += 1
                retry = (index, place)
            } else if index < scalars.count, scalars[index] == "_" || scalars[index] == text[place] {
                index += 1
                place += 1
            } else if let last = retry {
                (index, place) = (last.index, last.place + 1)
                retry = (last.index, place)
            } else {
                return false
            }
        }
        return scalars[index...].allSatisfy { $0 == "%" }
    }
}
