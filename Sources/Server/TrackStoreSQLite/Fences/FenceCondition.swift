import SQLDatabase
import TrackModel
import TrackStore

/// A filter of fences as SQL.
struct FenceCondition: Sendable {
    private let condition: String
    private let arguments: SQLParameters

    /// Throws `.tooManyNames`.
    init(_ filter: FenceFilter, _ service: ServiceID) throws(TrackStoreError) {
        var condition = " FROM fence f WHERE f.service = ?"
        var arguments: SQLParameters = [service.rawValue]
        if let numbers = try Self.numbers(filter.fences) {
            condition += " AND f.id IN (\(numbers.map { String($0) }.joined(separator: ", ")))"
        }
        if filter.after > 0 { condition += " AND f.id > \(filter.after)" }
        switch filter.maker {
        case .anyone: break
        case .vehicle(let name):
            condition += " AND f.maker IS ?"
            arguments.append(name)
        case .otherThan(let name):
            condition += " AND f.maker IS NOT ?"
            arguments.append(name)
        }
        let isNamed =
            "EXISTS (SELECT 1 FROM fence_watch w WHERE w.service = f.service AND w.entity = ? AND w.fence = f.id)"
        switch filter.watch {
        case .any: break
        case .nobody: condition += " AND f.watch = 0"
        case .named: condition += " AND f.watch IN (1, 2)"
        case .several: condition += " AND f.watch = 2"
        case .everyone: condition += " AND f.watch = 3"
        case .only(let name):
            condition += " AND f.watch = 1 AND f.id IN (SELECT fence FROM fence_watch WHERE service = ? AND entity = ?)"
            arguments += [service.rawValue, name]
        case .naming(let name):
            condition += " AND f.id IN (SELECT fence FROM fence_watch WHERE service = ? AND entity = ?)"
            arguments += [service.rawValue, name]
        case .watching(let name):
            condition += " AND (f.watch = 3 OR \(isNamed))"
            arguments.append(name)
        }
        self.condition = condition
        self.arguments = arguments
    }

    /// Different ones; nil for nil. Throws `.tooManyNames`.
    static func numbers(_ fences: [Int32]?) throws(TrackStoreError) -> Set<Int32>? {
        guard let fences else { return nil }
        let numbers = Set(fences)
        guard numbers.count <= FenceRules.mostNumbers else {
            throw TrackStoreError(
                .tooManyNames, "a filter takes at most \(FenceRules.mostNumbers) fences, this one has \(numbers.count)")
        }
        return numbers
    }

    func count(_ database: any SQLConnection) throws -> Int {
        try database.value(Int.self, "SELECT COUNT(*)" + condition, arguments) ?? 0
    }

    /// Of the fences, in their order.
    func numbers(_ database: any SQLConnection) throws -> [Int32] {
        try database.values(Int32.self, "SELECT f.id" + condition + " ORDER BY f.id", arguments)
    }

    func records(_ page: Page, _ database: any SQLConnection) throws -> [FenceRecord] {
        var found: [FenceRecord] = []
        try eachRow(page, database) { found.append(try FenceRecord($0)) }
        return found
    }

    func readable(_ page: Page, _ database: any SQLConnection) throws -> ReadableFences {
        var found = ReadableFences(total: try count(database))
        try eachRow(page, database) { row in
            if let record = try row.readable(&found.unreadable, FenceRecord.init) { found.fences.append(record) }
        }
        return found
    }

    /// A row is only there while it is read: to copy it costs more than to read it.
    private func eachRow(_ page: Page, _ database: any SQLConnection, _ read: (SQLRow) throws -> Void) throws {
        let bounds: SQLParameters = [max(0, page.limit), max(0, page.offset)]
        let columns = FenceRecord.columns
        try database.forEach(
            "SELECT \(columns)" + condition + " ORDER BY f.id LIMIT ? OFFSET ?", arguments + bounds, read)
    }
}

extension SQLRow {
    /// Reads a row whose first column is the number of a fence; nil when the fence cannot be read.
    func readable<Value>(_ unreadable: inout [UnreadableFence], _ read: (SQLRow) throws -> Value) throws -> Value? {
        do {
            return try read(self)
        } catch let error as TrackStoreError where error.code == .corrupt {
            try unreadable.append(UnreadableFence(fence: self[0], reason: error.detail))
            return nil
        }
    }
}
