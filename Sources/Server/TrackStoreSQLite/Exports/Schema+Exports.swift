extension Schema {
    /// Jobs that write points into files.
    static let exports = """
        CREATE TABLE export_job (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service INTEGER NOT NULL REFERENCES service (id),
            from_time INTEGER NOT NULL,
            through_time INTEGER NOT NULL,
            coordinate_type TEXT NOT NULL,
            token TEXT NOT NULL UNIQUE,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            state INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
            points INTEGER,
            bytes INTEGER,
            worker INTEGER,
            claimed_through INTEGER,
            CHECK ((state = 2) = (points IS NOT NULL) AND (points IS NULL) = (bytes IS NULL))
        ) STRICT;
        CREATE INDEX export_job_of_service ON export_job (service);
        CREATE INDEX export_job_unfinished ON export_job (id) WHERE state < 2;
        """
}
