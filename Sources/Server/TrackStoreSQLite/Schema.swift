import SQLDatabase
import StoreRecords

/// The tables, see docs/formats/track-store.md.
///
/// A new store gets the tables of the present version at once. Version N of the schema is reached from version N - 1 by step N: the first
/// 25 stand here, and later ones come from the declarations of ``RecordTables``.
enum Schema {
    /// `PRAGMA application_id`: "SAKR".
    static let applicationID: Int32 = 0x5341_4B52

    static var currentVersion: Int { steps.count }

    static let steps: [String] =
        firstSteps
        + (firstSteps.count..<max(firstSteps.count, RecordTables.version)).map { former in
            RecordTables.all.flatMap { $0.step(to: former + 1, for: .sqlite) }.joined(separator: ";\n")
        }

    /// Never changed: stores in the field have run them.
    private static let firstSteps = [
        """
        CREATE TABLE service (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            created INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE access_key (
            hash BLOB NOT NULL CHECK (length(hash) = 32),
            service INTEGER NOT NULL REFERENCES service (id),
            secret TEXT,
            disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
            created INTEGER NOT NULL,
            PRIMARY KEY (hash, service)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX access_key_of_service ON access_key (service);

        CREATE TABLE entity (
            id INTEGER PRIMARY KEY,
            service INTEGER NOT NULL REFERENCES service (id),
            name TEXT NOT NULL,
            description TEXT NOT NULL,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            UNIQUE (service, name)
        ) STRICT;

        CREATE TABLE latest (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            time INTEGER NOT NULL,
            latitude INTEGER NOT NULL,
            longitude INTEGER NOT NULL,
            received INTEGER NOT NULL,
            payload BLOB NOT NULL
        ) STRICT;

        CREATE TABLE stream (
            service INTEGER NOT NULL REFERENCES service (id),
            stream BLOB NOT NULL CHECK (length(stream) = 16),
            stored_through INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            PRIMARY KEY (service, stream)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE chunk (
            id INTEGER PRIMARY KEY,
            entity INTEGER NOT NULL REFERENCES entity (id),
            first_time INTEGER NOT NULL,
            last_time INTEGER NOT NULL,
            count INTEGER NOT NULL CHECK (count > 0),
            encoding INTEGER NOT NULL CHECK (encoding IN (0, 1)),
            settled INTEGER NOT NULL CHECK (settled IN (0, 1)),
            received INTEGER NOT NULL,
            runs BLOB,
            payload BLOB NOT NULL,
            CHECK (first_time <= last_time)
        ) STRICT;
        CREATE INDEX chunk_by_time ON chunk (entity, first_time, id, last_time, count, settled);
        CREATE INDEX chunk_unsettled ON chunk (entity, first_time, count, received) WHERE settled = 0;
        """,
        """
        CREATE TABLE attribute_column (
            id INTEGER PRIMARY KEY,
            service INTEGER NOT NULL REFERENCES service (id),
            kind INTEGER NOT NULL CHECK (kind IN (0, 1)),
            key TEXT NOT NULL,
            type INTEGER NOT NULL CHECK (type IN (1, 2, 3)),
            description TEXT NOT NULL,
            searchable INTEGER NOT NULL CHECK (searchable IN (0, 1)),
            created INTEGER NOT NULL,
            UNIQUE (service, kind, key)
        ) STRICT;

        CREATE TABLE entity_value (
            attribute_column INTEGER NOT NULL REFERENCES attribute_column (id),
            entity INTEGER NOT NULL REFERENCES entity (id),
            value TEXT NOT NULL,
            PRIMARY KEY (attribute_column, entity)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX entity_value_by_entity ON entity_value (entity);
        """,
        """
        CREATE TABLE hint (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            time INTEGER NOT NULL,
            latitude INTEGER NOT NULL,
            longitude INTEGER NOT NULL,
            received INTEGER NOT NULL,
            payload BLOB NOT NULL
        ) STRICT;
        """,
        """
        CREATE TABLE push_message (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service INTEGER NOT NULL REFERENCES service (id),
            type INTEGER NOT NULL,
            body TEXT NOT NULL,
            created INTEGER NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX push_message_by_age ON push_message (created);

        CREATE TABLE push (
            id INTEGER PRIMARY KEY,
            message INTEGER NOT NULL REFERENCES push_message (id),
            entity INTEGER NOT NULL REFERENCES entity (id),
            acknowledged INTEGER,
            given_up INTEGER,
            UNIQUE (message, entity)
        ) STRICT;
        CREATE INDEX push_pending ON push (entity, message) WHERE acknowledged IS NULL;
        """,
        """
        CREATE TABLE counter (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            value INTEGER NOT NULL
        ) STRICT;
        INSERT INTO counter (id, value)
        SELECT 1, MAX((SELECT COALESCE(MAX(id), 0) FROM entity), (SELECT COALESCE(MAX(id), 0) FROM chunk));

        CREATE TABLE state (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            version INTEGER NOT NULL,
            fences BLOB,
            time INTEGER,
            latitude INTEGER,
            longitude INTEGER,
            received INTEGER,
            payload BLOB
        ) STRICT;
        INSERT INTO state (entity, version, time, latitude, longitude, received, payload)
        SELECT l.entity, COALESCE(c.version, 0), l.time, l.latitude, l.longitude, l.received, l.payload
        FROM latest l LEFT JOIN (SELECT entity, MAX(id) AS version FROM chunk GROUP BY entity) c ON c.entity = l.entity;
        DROP TABLE latest;

        ALTER TABLE stream RENAME TO former_stream;
        CREATE TABLE claim (
            entity INTEGER NOT NULL REFERENCES entity (id),
            stream BLOB NOT NULL CHECK (length(stream) = 16),
            epoch INTEGER NOT NULL,
            stored_through INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            PRIMARY KEY (entity, stream)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE new_push (
            id INTEGER PRIMARY KEY,
            message INTEGER NOT NULL REFERENCES push_message (id),
            entity INTEGER REFERENCES entity (id),
            former_entity TEXT,
            acknowledged INTEGER,
            given_up INTEGER,
            withdrawn INTEGER,
            UNIQUE (message, entity),
            CHECK ((entity IS NULL) = (former_entity IS NOT NULL))
        ) STRICT;
        INSERT INTO new_push (id, message, entity, acknowledged, given_up)
        SELECT id, message, entity, acknowledged, given_up FROM push;
        DROP TABLE push;
        ALTER TABLE new_push RENAME TO push;
        CREATE INDEX push_pending ON push (entity, message) WHERE acknowledged IS NULL;
        CREATE INDEX push_by_entity ON push (entity);
        """,
        """
        ALTER TABLE service ADD COLUMN app_code TEXT;
        """,
        """
        ALTER TABLE counter ADD COLUMN received INTEGER;
        UPDATE counter SET received = (SELECT received FROM chunk ORDER BY id DESC LIMIT 1);
        """,
        fences,
        fenceHistory,
        search,
        exports,
        keyRights,
        devices,
        tokens,
        health,
        retention,
        clones,
        deletion,
        answers,
        routes,
        proofs,
        fenceMakers,
        pushOrder,
        watchVersions,
        changes,
    ]

    /// What a step does beside its statements, by the version that it reaches: it needs code that SQL does not have.
    private static let fillings: [Int: @Sendable (any SQLConnection) throws -> Void] = [
        10: { try fillSearch($0) }, 24: { try fillWatchVersions($0) },
    ]

    /// Makes the tables of a new file. Runs the steps that a former store has not seen, each in a transaction of its own.
    /// `last`: the schema to stop at.
    static func migrate(_ database: SQLiteConnection, through last: Int = currentVersion) throws {
        try checkLibrary(database)
        var version = try database.value(Int.self, "PRAGMA user_version") ?? 0
        if version == 0, last == currentVersion {
            try create(database)
            version = try database.value(Int.self, "PRAGMA user_version") ?? 0
        }
        for next in steps.indices.prefix(last).dropFirst(version) {
            try database.transaction {
                // Another process may have been faster.
                guard try database.value(Int.self, "PRAGMA user_version") == next else { return }
                try database.script(steps[next])
                try fillings[next + 1]?(database)
                try note(next + 1, database)
            }
        }
    }

    /// Makes the tables of the present version in a file that has none.
    private static func create(_ database: SQLiteConnection) throws {
        try database.transaction {
            // Another process may have been faster.
            guard try database.value(Int.self, "SELECT COUNT(*) FROM sqlite_schema") == 0 else { return }
            let records = RecordTables.all.flatMap { $0.creation(for: .sqlite) }
            try database.script((records + [EntityTexts.creation, points]).joined(separator: ";\n"))
            try note(currentVersion, database)
        }
    }

    private static func note(_ version: Int, _ database: SQLiteConnection) throws {
        try database.script("PRAGMA user_version = \(version); PRAGMA application_id = \(applicationID)")
    }
}
