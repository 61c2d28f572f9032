import Foundation
import ProgramTestKit
import SQLDatabase
import Testing

/// One connection to a real file: values, statements, transactions, errors.
@Suite struct SQLiteConnectionTests {
    private let directory: TemporaryDirectory
    private let connection: SQLiteConnection

    init() throws {
        directory = try TemporaryDirectory()
        connection = try SQLiteConnection(path: directory.file("a.sqlite"), .create)
        try connection.script("CREATE TABLE t (k INTEGER PRIMARY KEY, v)")
    }

    private func kind(_ body: () throws -> Void) -> SQLError.Kind? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SQLError)?.kind
        }
    }

    private func fill(_ rows: Int) throws {
        try connection.transaction {
            for key in 1...rows { try connection.execute("INSERT INTO t VALUES (?, 'a row of some length')", [key]) }
        }
    }

    @Test(arguments: [
        SQLValue.null, .integer(0), .integer(.min), .integer(.max), .real(0.1), .real(-.infinity), .text(""),
        .text("a"),
        .text("Grüße 車\u{0} after a zero"), .blob([]), .blob([0, 255, 0]), .blob([UInt8](repeating: 7, count: 100_000)),
    ])
    func aValueComesBackAsItWasStored(value: SQLValue) throws {
        try connection.execute("INSERT INTO t VALUES (1, ?)", [value])
        #expect(try connection.row("SELECT v FROM t") { try $0[0] as SQLValue } == value)
        // The engine agrees on the kind and the length.
        let type = try connection.value(String.self, "SELECT typeof(v) FROM t")
        switch value {
        case .null: #expect(type == "null")
        case .integer: #expect(type == "integer")
        case .real: #expect(type == "real")
        case .text: #expect(type == "text")
        case .blob(let bytes):
            #expect(type == "blob")
            #expect(try connection.value(Int.self, "SELECT length(v) FROM t") == bytes.count)
        }
    }

    @Test func aNumberThatIsNoneIsNull() throws {
        try connection.execute("INSERT INTO t VALUES (1, ?)", [Double.nan])
        #expect(try connection.value(Double.self, "SELECT v FROM t") == nil)
    }

    @Test func aColumnOfAnotherKindIsAMismatch() throws {
        try connection.execute("INSERT INTO t VALUES (1, 'text'), (2, 300), (3, NULL), (4, 1.5)")
        func read<Value: SQLConvertible>(_ type: Value.Type, _ key: Int) -> SQLError.Kind? {
            kind { _ = try connection.row("SELECT v FROM t WHERE k = ?", [key]) { try $0[0] as Value } }
        }
        #expect(read(Int.self, 1) == .mismatch)
        #expect(read(UInt8.self, 2) == .mismatch)
        #expect(read(UInt32.self, 2) == nil)
        #expect(read(Int.self, 3) == .mismatch)
        #expect(read(Int?.self, 3) == nil)
        #expect(read(Int.self, 4) == .mismatch)
        #expect(read(Double.self, 2) == nil)
        #expect(read([UInt8].self, 1) == .mismatch)
        #expect(read(Bool.self, 1) == .mismatch)
    }

    @Test func aRowIsReadableOnlyWithinItsCall() throws {
        try connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        var kept: SQLRow?
        try connection.forEach("SELECT v FROM t ORDER BY k") { row in
            if let kept { #expect(kind { _ = try kept[0] as String } == .misuse) }
            kept = row
        }
        #expect(kind { _ = try kept?[0] as String? } == .misuse)
        #expect(kind { try connection.forEach("SELECT v FROM t") { _ = try $0[1] as String } } == .misuse)
        #expect(kind { try connection.forEach("SELECT v FROM t") { _ = try $0[-1] as String } } == .misuse)
    }

    @Test func parametersAreCounted() {
        #expect(kind { try connection.execute("INSERT INTO t VALUES (?, ?)", [1]) } == .misuse)
        #expect(kind { try connection.execute("INSERT INTO t VALUES (?1, ?1)", [1, 2]) } == .misuse)
        #expect(kind { try connection.execute("INSERT INTO t VALUES (?1, ?1)", [1]) } == nil)
    }

    @Test func aStatementMayRunInsideAnotherRunOfItsText() throws {
        try connection.execute("INSERT INTO t VALUES (1, 10), (2, 20)")
        var sums: [Int] = []
        try connection.forEach("SELECT v FROM t ORDER BY k") { outer in
            let left = try outer[0] as Int
            try connection.forEach("SELECT v FROM t ORDER BY k") { sums.append(left + (try $0[0] as Int)) }
        }
        #expect(sums == [20, 30, 30, 40])
        // The same object cannot.
        let statement = try connection.statement("SELECT v FROM t")
        #expect(kind { try statement.forEach { _ in try statement.execute() } } == .misuse)
    }

    @Test func aTextIsCompiledOnce() throws {
        let first = try connection.statement("SELECT 1")
        #expect(try connection.statement("SELECT 1") === first)
        // Texts without end do not fill the memory.
        for number in 0..<2_000 { _ = try connection.value(Int.self, "SELECT \(number)") }
        #expect(try connection.statement("SELECT 1") !== first)
        #expect(try connection.value(Int.self, "SELECT 1") == 1)
    }

    @Test func aTransactionIsWholeOrNothing() throws {
        struct Stop: Error {}
        var done: [String] = []
        #expect(throws: Stop.self) {
            try connection.transaction {
                try connection.execute("INSERT INTO t VALUES (1, 1)")
                connection.afterCommit { done.append("undone") }
                throw Stop()
            }
        }
        #expect(try connection.value(Int.self, "SELECT COUNT(*) FROM t") == 0)
        try connection.transaction {
            try connection.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
            #expect(connection.changes == 2)
            connection.afterCommit { done.append("done") }
            #expect(done.isEmpty)
        }
        #expect(done == ["done"])
        #expect(try connection.value(Int.self, "SELECT COUNT(*) FROM t") == 2)
        try connection.transaction {}
        #expect(done == ["done"])
    }

    @Test func errorsHaveTheirKind() throws {
        try connection.execute("INSERT INTO t VALUES (1, 1)")
        #expect(kind { try connection.execute("INSERT INTO t VALUES (1, 1)") } == .constraint)
        #expect(kind { try connection.execute("SELECT nothing FROM t") } == .failed)
        #expect(kind { try connection.execute("") } == .misuse)
        #expect(kind { try connection.execute("-- a comment") } == .misuse)
        // Another connection writes.
        let other = try SQLiteConnection(path: directory.file("a.sqlite"), .readWrite, busyTimeout: 0)
        try connection.transaction {
            try connection.execute("INSERT INTO t VALUES (2, 2)")
            #expect(kind { try other.transaction {} } == .busy)
        }
        #expect(kind { try other.transaction {} } == nil)
        // A database that may not grow.
        try connection.script("PRAGMA max_page_count = 3")
        let large = [UInt8](repeating: 1, count: 100_000)
        #expect(
            kind { try connection.transaction { try connection.execute("INSERT INTO t VALUES (3, ?)", [large]) } }
                == .full)
        // What the engine undid is undone, and the connection goes on.
        try connection.transaction { try connection.execute("INSERT INTO t VALUES (4, 4)") }
        #expect(try connection.values(Int.self, "SELECT k FROM t ORDER BY k") == [1, 2, 4])
    }

    @Test func filesThatAreNone() throws {
        #expect(kind { _ = try SQLiteConnection(path: directory.file("none"), .readWrite) } == .cannotOpen)
        #expect(kind { _ = try SQLiteConnection(path: directory.path, .readWrite) } == .cannotOpen)
        try Data(
            "this is a text, and not a database at all, however long it may be. ".utf8
                + [UInt8](repeating: 65, count: 4096)
        )
        .write(to: URL(fileURLWithPath: directory.file("text")))
        #expect(
            kind {
                let file = try SQLiteConnection(path: directory.file("text"), .readWrite)
                _ = try file.value(Int.self, "PRAGMA user_version")
            } == .notDatabase)
    }

    @Test func aDamagedPageIsCorrupt() throws {
        try fill(2_000)
        connection.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: directory.file("a.sqlite")))
        let size = 4096
        for index in size * 3..<size * 4 { bytes[index] = 0xEE }
        try bytes.write(to: URL(fileURLWithPath: directory.file("a.sqlite")))
        let again = try SQLiteConnection(path: directory.file("a.sqlite"), .readOnly)
        #expect(kind { try again.forEach("SELECT v FROM t") { _ = try $0[0] as String } } == .corrupt)
    }

    @Test func aReaderBesideAWriterWritesNothing() throws {
        try connection.script("PRAGMA journal_mode = WAL")
        let reader = try SQLiteConnection(path: directory.file("a.sqlite"), .readBesideWriter)
        #expect(kind { try reader.execute("INSERT INTO t VALUES (1, 1)") } == .cannotOpen)
        #expect(try reader.value(Int.self, "SELECT COUNT(*) FROM t") == 0)
    }

    @Test func aCheckpointMovesTheLogOfAnotherConnection() throws {
        try connection.script("PRAGMA journal_mode = WAL")
        try fill(500)
        let log = directory.file("a.sqlite-wal")
        let size = { try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? -1 }
        #expect(try size() > 0)
        try SQLiteConnection(path: directory.file("a.sqlite"), .readWrite).checkpoint()
        #expect(try size() == 0)
    }

    @Test func aClosedConnectionDoesNothing() throws {
        let statement = try connection.statement("SELECT 1")
        connection.close()
        #expect(kind { try connection.execute("SELECT 1") } == .misuse)
        #expect(kind { try connection.script("SELECT 1") } == .misuse)
        #expect(kind { try connection.checkpoint() } == .misuse)
        #expect(connection.changes == 0)
        // Whoever kept a statement keeps the engine's part of the connection.
        #expect(try statement.value(Int.self) == 1)
    }

    @Test func aCopyIsTheSame() throws {
        try fill(500)
        for (name, step) in [("whole", nil), ("steps", {})] as [(String, (() -> Void)?)] {
            let copy = try SQLiteConnection(path: directory.file(name), .create)
            try connection.copy(to: copy, pagesOfStep: 2, onStep: step)
            #expect(
                try copy.values(Int.self, "SELECT k FROM t ORDER BY k")
                    == connection.values(Int.self, "SELECT k FROM t ORDER BY k"))
        }
    }
}
