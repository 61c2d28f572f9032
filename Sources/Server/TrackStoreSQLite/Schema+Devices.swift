extension Schema {
    /// Boxes with certificates of their own. A device that was forgotten stays as a row without content, so that whoever
    /// follows the changes hears of it.
    static let devices = """
        CREATE TABLE device (
            id BLOB PRIMARY KEY CHECK (length(id) = 16),
            service INTEGER NOT NULL REFERENCES service (id),
            state INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
            entity TEXT NOT NULL,
            former_entities TEXT NOT NULL,
            name TEXT NOT NULL,
            key_hash BLOB UNIQUE CHECK (length(key_hash) = 32),
            created INTEGER NOT NULL,
            certificate_end INTEGER NOT NULL,
            seen INTEGER,
            address TEXT,
            agent_version TEXT,
            change INTEGER NOT NULL UNIQUE,
            CHECK ((state = 2) = (key_hash IS NULL))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX device_of_service ON device (service, created, id);
        """
}
