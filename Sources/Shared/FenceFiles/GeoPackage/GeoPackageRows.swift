/// A value of a row of SQLite.
package enum GeoPackageValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// A statement that reads, with the values of its question marks.
package struct GeoPackageQuery: Hashable, Sendable {
    package let sql: String
    package let arguments: [GeoPackageValue]

    init(_ sql: String, _ arguments: [GeoPackageValue] = []) {
        self.sql = sql
        self.arguments = arguments
    }

    /// A name of a table or a column inside a statement.
    static func quoted(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }
}

/// The rows of one query, one after the other. Whoever has SQLite provides it.
package protocol GeoPackageRows {
    /// In the order of the values of a row.
    var columns: [String] { get }

    /// Nil after the last row.
    ///
    /// - Throws: ``FenceFileError`` with what SQLite says.
    mutating func next() throws(FenceFileError) -> [GeoPackageValue]?
}

/// An open GeoPackage, as SQLite sees it: opened to be read only, without trusted schema.
package protocol GeoPackageDatabase {
    associatedtype Rows: GeoPackageRows

    /// - Throws: ``FenceFileError`` with what SQLite says.
    func rows(of query: GeoPackageQuery) throws(FenceFileError) -> Rows
}
