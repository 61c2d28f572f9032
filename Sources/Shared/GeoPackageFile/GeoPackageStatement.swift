package import FenceFiles

/// The rows of a query of a ``GeoPackageFile``.
package final class GeoPackageStatement: GeoPackageRows {
    private let statement: OpaquePointer
    private let file: GeoPackageFile
    package let columns: [String]

    init(_ statement: OpaquePointer, of file: GeoPackageFile) {
        self.statement = statement
        self.file = file
        let sqlite = file.sqlite
        columns = (0..<sqlite.columnCount(statement)).map { column in
            sqlite.columnName(statement, column).map { String(cString: $0) } ?? ""
        }
    }

    deinit { _ = file.sqlite.finalize(statement) }

    package func next() throws(FenceFileError) -> [GeoPackageValue]? {
        file.renewSteps()
        switch file.sqlite.step(statement) {
        case SQLiteLibrary.done:
            try file.checkUnchanged()
            return nil
        case SQLiteLibrary.row: break
        default:
            let error = file.error()
            try file.checkUnchanged()
            throw error
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
        let sqlite = file.sqlite
        return switch sqlite.columnType(statement, column) {
        case SQLiteLibrary.integer: .integer(sqlite.columnInteger(statement, column))
        case SQLiteLibrary.real: .real(sqlite.columnReal(statement, column))
        case SQLiteLibrary.text:
            // First the text, then its length: SQLite may convert it.
            .text(
                String(
                    decoding: UnsafeRawBufferPointer(
                        start: sqlite.columnText(statement, column),
                        count: Int(sqlite.columnBytes(statement, column))), as: UTF8.self))
        case SQLiteLibrary.blob:
            .blob(
                Array(
                    UnsafeRawBufferPointer(
                        start: sqlite.columnBlob(statement, column),
                        count: Int(sqlite.columnBytes(statement, column)))))
        default: .null
        }
    }
}
