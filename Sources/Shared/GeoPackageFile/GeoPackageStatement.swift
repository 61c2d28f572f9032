package import FenceFiles
internal import GRDBSQLite

/// The rows of a query of a ``GeoPackageFile``.
package final class GeoPackageStatement: GeoPackageRows {
    private let statement: OpaquePointer
    private let file: GeoPackageFile
    package let columns: [String]

    init(_ statement: OpaquePointer, of file: GeoPackageFile) {
        self.statement = statement
        self.file = file
        columns = (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_name(statement, column).map { String(cString: $0) } ?? ""
        }
    }

    deinit { sqlite3_finalize(statement) }

    package func next() throws(FenceFileError) -> [GeoPackageValue]? {
        file.renewPatience()
        switch sqlite3_step(statement) {
        case SQLITE_DONE: return nil
        case SQLITE_ROW: break
        default: throw file.error()
        }
        var (values, bytes): ([GeoPackageValue], Int) = ([], 0)
        for column in 0..<Int32(columns.count) {
            let value = value(column)
            switch value {
            case .text(let text): bytes += text.utf8.count
            case .blob(let blob): bytes += blob.count
            case .null, .integer, .real: break
            }
            guard bytes <= GeoPackageFile.mostValueBytes else {
                throw FenceFileError(
                    "a row has more than \(GeoPackageFile.mostValueBytes >> 20) MiB: leave columns out")
            }
            values.append(value)
        }
        return values
    }

    private func value(_ column: Int32) -> GeoPackageValue {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            // First the text, then its length: SQLite may convert it.
            .text(
                String(
                    decoding: UnsafeRawBufferPointer(
                        start: sqlite3_column_text(statement, column),
                        count: Int(sqlite3_column_bytes(statement, column))), as: UTF8.self))
        case SQLITE_BLOB:
            .blob(
                Array(
                    UnsafeRawBufferPointer(
                        start: sqlite3_column_blob(statement, column),
                        count: Int(sqlite3_column_bytes(statement, column)))))
        default: .null
        }
    }
}
