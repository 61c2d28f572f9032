import SQLDatabase
import StoreRecords
import Testing

@testable import TrackStoreSQLite

/// The declared tables are those that the steps have made: a new store and a former one are the same.
@Suite struct SchemaTests {
    private let bench: Workbench

    init() throws { bench = try Workbench() }

    /// All that SQLite knows of the tables but the names that it gave itself: columns, keys, indexes, rules and rows.
    private func description(of file: SQLiteConnection) throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        let tables = try file.rows(
            "SELECT name, wr, strict, type FROM pragma_table_list WHERE schema = 'main' AND name <> 'sqlite_schema'"
        ) { row in try (name: row[0] as String, row: "\(row[1] as Int) \(row[2] as Int) \(row[3] as String)") }
        for (table, row) in tables {
            var lines = [row]
            lines += try file.rows("SELECT * FROM pragma_table_xinfo(?)", [table]) { row in
                let (name, type, value): (String, String, String?) = try (row[1], row[2], row[4])
                return try "column \(name) \(type) \(row[3] as Int) \(value ?? "-") \(row[5] as Int)"
            }
            lines += try file.values(
                String.self,
                """
                SELECT 'reference ' || "from" || ' ' || "table" || ' ' || COALESCE("to", '') || ' ' || seq
                FROM pragma_foreign_key_list(?) ORDER BY 1
                """, [table])
            lines += try file.values(
                String.self,
                """
                SELECT 'index ' || l."unique" || l.origin || l.partial || ' ' || (
                    SELECT group_concat(name || "desc" || coll || key, ',') FROM pragma_index_xinfo(l.name) WHERE key)
                    || ' ' || CASE l.origin WHEN 'c' THEN l.name || COALESCE(
                        (SELECT substr(sql, instr(sql, 'WHERE')) FROM sqlite_schema s
                         WHERE s.name = l.name AND l.partial), '') ELSE '' END
                FROM pragma_index_list(?) l ORDER BY 1
                """, [table])
            let text = try file.value(String.self, "SELECT sql FROM sqlite_schema WHERE name = ?", [table]) ?? ""
            lines += checks(in: text).sorted()
            if text.contains("AUTOINCREMENT") { lines.append("AUTOINCREMENT") }
            if !table.hasPrefix("entity_text") {
                let count = try file.value(Int.self, "SELECT COUNT(*) FROM \"\(table)\"") ?? 0
                lines.append("rows \(count)")
            }
            found[table] = lines
        }
        for (table, columns) in [
            "fence_clock": "last, forgotten", "district_list": "version, 0", "counter": "value, received",
        ]
        where found[table] != nil {
            found[table]? += try file.rows("SELECT \(columns) FROM \(table)") { row in
                try "row \(row[0] as Int64) \((row[1] as Int64?).map(String.init) ?? "-")"
            }
        }
        return found
    }

    /// Each CHECK with its parentheses, white space apart.
    private func checks(in sql: String) -> [String] {
        var found: [String] = []
        for part in sql.split(separator: "CHECK (").dropFirst() {
            var depth = 1
            let inside = part.prefix { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return depth > 0
            }
            found.append("CHECK " + inside.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }
        return found
    }

    @Test func aNewStoreHasTheTablesOfOneThatWentThroughAllVersions() throws {
        let former = try SQLiteConnection(path: bench.path + "-former", .create)
        try Schema.migrate(former, through: 1)
        try Schema.migrate(former)
        let new = try SQLiteConnection(path: bench.path, .create)
        try Schema.migrate(new)
        for pragma in ["user_version", "application_id"] {
            #expect(try new.value(Int64.self, "PRAGMA \(pragma)") == former.value(Int64.self, "PRAGMA \(pragma)"))
        }
        let (expected, made) = try (description(of: former), description(of: new))
        #expect(expected.count > 30)
        #expect(made.keys.sorted() == expected.keys.sorted())
        for table in expected.keys.sorted() { #expect(made[table] == expected[table], "\(table)") }
    }

    /// A column, an index and a table that a later version adds are the same in a new store and in a former one.
    @Test func aLaterVersionIsMadeAndReachedFromTheSameLines() throws {
        let lines = """
            number SERIAL
            owner INTEGER NOT NULL
            26: note TEXT NOT NULL DEFAULT ''
            UNIQUE (owner)
            27: INDEX sample_by_note (note) WHERE note > ''
            """
        let later = RecordTable("sample", lines)
        let added = RecordTable("later", since: 27, isClustered: true, "id BYTES PRIMARY KEY\nROW (x'01')")
        #expect(later.version == 27 && added.version == 27)

        let new = try SQLiteConnection(path: bench.path, .create)
        for table in [later, added] { for sql in table.creation(for: .sqlite) { try new.script(sql) } }
        let former = try SQLiteConnection(path: bench.path + "-former", .create)
        try former.script(
            "CREATE TABLE sample (number INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL, UNIQUE (owner)) STRICT"
        )
        for version in 26...28 {
            let step = [later, added].flatMap { $0.step(to: version, for: .sqlite) }
            #expect(step.count == [26: 1, 27: 3][version] ?? 0)
            for sql in step { try former.script(sql) }
        }
        for (table, lines) in try description(of: former) {
            #expect(try description(of: new)[table] == lines, "\(table)")
        }
        #expect(try new.value([UInt8].self, "SELECT id FROM later") == [1])
    }

    @Test func postgreSQLHasItsOwnTypes() {
        let table = RecordTable(
            "sample", isClustered: true,
            """
            number SERIAL
            key BYTES NOT NULL CHECK (length(key) = 16)
            26: owner INTEGER REFERENCES service (id)
            UNIQUE (key)
            INDEX sample_by_owner (owner) WHERE owner IS NOT NULL
            """)
        #expect(
            table.creation(for: .postgreSQL) == [
                """
                CREATE TABLE sample (
                    number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
                    key BYTEA NOT NULL CHECK (length(key) = 16),
                    owner BIGINT REFERENCES service (id),
                    UNIQUE (key)
                )
                """, "CREATE INDEX sample_by_owner ON sample (owner) WHERE owner IS NOT NULL",
            ])
        let step = table.step(to: 26, for: .postgreSQL)
        #expect(step == ["ALTER TABLE sample ADD COLUMN owner BIGINT REFERENCES service (id)"])
    }
}
