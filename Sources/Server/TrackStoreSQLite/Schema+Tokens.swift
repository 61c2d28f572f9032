extension Schema {
    /// Enrolment tokens, and what a device said when it claimed its identity with one.
    ///
    /// A pending device has a column of its own, because the check of `state` cannot be changed without making the table anew.
    static let tokens = """
        CREATE TABLE token (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
            service INTEGER NOT NULL REFERENCES service (id),
            uses INTEGER NOT NULL CHECK (uses > 0),
            used INTEGER NOT NULL DEFAULT 0 CHECK (used BETWEEN 0 AND uses),
            last_name INTEGER NOT NULL DEFAULT 0,
            ends INTEGER,
            pattern TEXT NOT NULL,
            approval INTEGER NOT NULL CHECK (approval IN (0, 1, 2)),
            note TEXT NOT NULL,
            created INTEGER NOT NULL,
            revoked INTEGER
        ) STRICT;

        CREATE TABLE token_serial (
            token INTEGER NOT NULL REFERENCES token (number),
            serial TEXT NOT NULL,
            PRIMARY KEY (token, serial)
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE device ADD COLUMN pending INTEGER NOT NULL DEFAULT 0 CHECK (pending IN (0, 1));
        ALTER TABLE device ADD COLUMN token INTEGER REFERENCES token (number);
        ALTER TABLE device ADD COLUMN serial TEXT;
        ALTER TABLE device ADD COLUMN model TEXT;
        ALTER TABLE device ADD COLUMN claimed_from TEXT;
        ALTER TABLE device ADD COLUMN issued INTEGER;
        ALTER TABLE device ADD COLUMN machine BLOB CHECK (length(machine) = 32);
        CREATE INDEX device_of_token ON device (token, serial) WHERE token IS NOT NULL;
        CREATE INDEX device_of_entity ON device (service, entity);
        """
}
