import SQLDatabase
import TrackModel
import TrackStore

extension KeyRights {
    /// What ``init(_:from:)`` reads, and ``arguments`` has, in this order.
    static let columns = "scopes, ends, addresses, referers"

    /// From the columns from `start` on. A list that somebody has changed into nonsense admits nobody.
    init(_ row: SQLRow, from start: Int) throws {
        func list<Item>(_ column: Int, _ read: (String) -> Item?) throws -> [Item] {
            guard let text: String = try row[column] else { return [] }
            let items = text.split(separator: " ").compactMap { read(String($0)) }
            guard items.count == text.split(separator: " ").count, !items.isEmpty else {
                throw TrackStoreError(.corrupt, "the white list of an access key cannot be read")
            }
            return items
        }
        try self.init(
            KeyScopes(rawValue: row[start]), end: (row[start + 1] as Int64?).map(Timestamp.init(milliseconds:)),
            addresses: try list(start + 2) { AddressRange($0) }, referers: try list(start + 3) { RefererPattern($0) })
    }

    var arguments: SQLParameters {
        [
            scopes.rawValue, end?.milliseconds, Self.text(addresses.map(\.description)),
            Self.text(referers.map(\.text)),
        ]
    }

    private static func text(_ items: [String]) -> String? { items.isEmpty ? nil : items.joined(separator: " ") }
}
