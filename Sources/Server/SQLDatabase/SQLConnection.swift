/// One connection to a database, in the hands of one thread at a time.
///
/// What stands here is what SQLite and PostgreSQL have in common, so that the code of a table is written once. The text of
/// statements is the common subset of SQLite 3.40 and PostgreSQL 15: parameters are `?` in their order, or `?1`, `?2`, …
package protocol SQLConnection: AnyObject {
    /// How the engine writes what the subset has no word for.
    var dialect: SQLDialect { get }

    /// The connection compiles a text once and keeps the statement.
    ///
    /// - Throws: ``SQLError`` for a text that is no statement.
    func statement(_ sql: String) throws -> any SQLStatement

    /// Runs a number of statements without parameters and without rows.
    func script(_ sql: String) throws

    /// Rows that the last statement inserted, changed or removed.
    var changes: Int { get }

    /// Runs `body`, and has the engine overwrite on the medium what its statements replace or remove, as far as the engine can.
    func overwritingRemoved<Value>(_ body: () throws -> Value) throws -> Value

    /// Another number as soon as another connection has committed a change; commits of this connection do not count. What is
    /// known of rows is known no more then.
    func foreignChanges() throws -> Int64

    /// Has `action` run when the transaction is committed. A transaction that is undone forgets it.
    func afterCommit(_ action: @escaping () -> Void)
}

/// A compiled statement. It runs once at a time.
package protocol SQLStatement: AnyObject {
    var parameterCount: Int { get }

    /// Runs the statement, and gives each row to `body` until `body` says false. A row is valid within its call only.
    func run(_ parameters: SQLParameters, _ body: (SQLRow) throws -> Bool) throws
}

extension SQLStatement {
    /// Runs a statement whose rows nobody wants.
    package func execute(_ parameters: SQLParameters = []) throws {
        try run(parameters) { _ in true }
    }

    package func forEach(_ parameters: SQLParameters = [], _ body: (SQLRow) throws -> Void) throws {
        try run(parameters) { row in
            try body(row)
            return true
        }
    }

    package func rows<Value>(
        _ parameters: SQLParameters = [], _ transform: (SQLRow) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try forEach(parameters) { values.append(try transform($0)) }
        return values
    }

    /// The first row; nil: there is none.
    package func row<Value>(_ parameters: SQLParameters = [], _ transform: (SQLRow) throws -> Value) throws -> Value? {
        var value: Value?
        try run(parameters) { row in
            value = try transform(row)
            return false
        }
        return value
    }

    /// The first column of the first row; nil: there is no row, or the column is NULL.
    package func value<Value: SQLConvertible>(
        _ type: Value.Type = Value.self, _ parameters: SQLParameters = []
    ) throws -> Value? {
        try row(parameters) { row in try row[0] as Value? } ?? nil
    }

    /// The first column of each row.
    package func values<Value: SQLConvertible>(
        _ type: Value.Type = Value.self, _ parameters: SQLParameters = []
    ) throws -> [Value] {
        try rows(parameters) { row in try row[0] }
    }
}

extension SQLConnection {
    /// Runs a statement whose rows nobody wants. ``changes`` says what it did.
    package func execute(_ sql: String, _ parameters: SQLParameters = []) throws {
        try statement(sql).execute(parameters)
    }

    package func forEach(_ sql: String, _ parameters: SQLParameters = [], _ body: (SQLRow) throws -> Void) throws {
        try statement(sql).forEach(parameters, body)
    }

    package func rows<Value>(
        _ sql: String, _ parameters: SQLParameters = [], _ transform: (SQLRow) throws -> Value
    ) throws -> [Value] {
        try statement(sql).rows(parameters, transform)
    }

    /// The first row; nil: there is none.
    package func row<Value>(
        _ sql: String, _ parameters: SQLParameters = [], _ transform: (SQLRow) throws -> Value
    ) throws -> Value? {
        try statement(sql).row(parameters, transform)
    }

    /// The first column of the first row; nil: there is no row, or the column is NULL.
    package func value<Value: SQLConvertible>(
        _ type: Value.Type = Value.self, _ sql: String, _ parameters: SQLParameters = []
    ) throws -> Value? {
        try statement(sql).value(type, parameters)
    }

    /// The first column of each row.
    package func values<Value: SQLConvertible>(
        _ type: Value.Type = Value.self, _ sql: String, _ parameters: SQLParameters = []
    ) throws -> [Value] {
        try statement(sql).values(type, parameters)
    }

    /// Whether the statement has a row.
    package func has(_ sql: String, _ parameters: SQLParameters = []) throws -> Bool {
        try statement(sql).row(parameters) { _ in true } ?? false
    }
}

/// One row of a result. Columns are read when somebody asks for them, so a column that nobody asks for costs nothing.
package struct SQLRow {
    private let source: any SQLRowSource
    /// Which row of the source this is.
    private let number: Int

    init(_ source: any SQLRowSource, number: Int) {
        self.source = source
        self.number = number
    }

    /// Throws ``SQLError`` for a column of another kind, which a damaged file may hold.
    package subscript<Value: SQLConvertible>(column: Int) -> Value {
        get throws {
            let value = try source.value(at: column, ofRow: number)
            guard let converted = Value(sqlValue: value) else {
                throw SQLError(.mismatch, "column \(column) holds \(value.kind) where \(Value.sqlKind) is wanted")
            }
            return converted
        }
    }
}

/// Where an engine keeps the columns of its rows.
protocol SQLRowSource: AnyObject {
    /// Throws ``SQLError`` when the source has gone on to another row, and for a column that is not there.
    func value(at column: Int, ofRow number: Int) throws -> SQLValue
}

/// Why a database did not do what it was told. The message never holds parameters, which may be positions.
package struct SQLError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The medium, or the limit of the database.
        case full
        /// Somebody else holds the database.
        case busy
        case corrupt
        /// The file is no database.
        case notDatabase
        case cannotOpen
        /// A rule of a table forbids the change.
        case constraint
        /// Somebody ended the work.
        case interrupted
        /// A column has another kind than the program expects.
        case mismatch
        /// The connection is closed, or the program made an error.
        case misuse
        case failed
    }

    package let kind: Kind
    package let message: String
    /// The engine's own number; 0: the error is not the engine's.
    package let code: Int32

    package init(_ kind: Kind, _ message: String, code: Int32 = 0) {
        self.kind = kind
        self.message = message
        self.code = code
    }
}
