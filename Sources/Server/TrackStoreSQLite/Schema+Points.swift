extension Schema {
    /// The tables of the points, of the present version.
    ///
    /// `datum` has no CHECK: a statement that updates a row of a table with a CHECK opens a journal of its own, which would
    /// cost each batch some microseconds. The integrity check looks at the column. `former_stream` has the streams of stores that were made
    /// before streams belonged to entities.
    static let points = """
        CREATE TABLE counter (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            value INTEGER NOT NULL,
            received INTEGER
        ) STRICT;
        INSERT INTO counter (id, value) VALUES (1, 0);

        CREATE TABLE state (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            version INTEGER NOT NULL,
            fences BLOB,
            time INTEGER,
            latitude INTEGER,
            longitude INTEGER,
            received INTEGER,
            payload BLOB,
            service INTEGER,
            datum INTEGER,
            cell INTEGER
        ) STRICT;
        CREATE INDEX state_by_cell ON state (service, cell) WHERE cell IS NOT NULL;

        CREATE TABLE hint (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            time INTEGER NOT NULL,
            latitude INTEGER NOT NULL,
            longitude INTEGER NOT NULL,
            received INTEGER NOT NULL,
            payload BLOB NOT NULL,
            service INTEGER,
            datum INTEGER,
            cell INTEGER
        ) STRICT;
        CREATE INDEX hint_by_cell ON hint (service, cell) WHERE cell IS NOT NULL;

        CREATE TABLE claim (
            entity INTEGER NOT NULL REFERENCES entity (id),
            stream BLOB NOT NULL CHECK (length(stream) = 16),
            epoch INTEGER NOT NULL,
            stored_through INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            PRIMARY KEY (entity, stream)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE former_stream (
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
        """
}
