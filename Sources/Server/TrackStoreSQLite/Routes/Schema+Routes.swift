extension Schema {
    /// Jobs that compute the frequent routes of entities.
    static let routes = """
        CREATE TABLE route_job (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service INTEGER NOT NULL REFERENCES service (id),
            entity INTEGER NOT NULL REFERENCES entity (id),
            from_time INTEGER NOT NULL,
            through_time INTEGER NOT NULL,
            minutes INTEGER NOT NULL,
            processing TEXT NOT NULL,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            state INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
            routes BLOB,
            refusal INTEGER,
            reason TEXT,
            worker INTEGER,
            claimed_through INTEGER,
            UNIQUE (entity, from_time, through_time, minutes, processing),
            CHECK ((state = 2) = (routes IS NOT NULL OR refusal IS NOT NULL)
                AND (routes IS NULL OR refusal IS NULL) AND (refusal IS NULL) = (reason IS NULL))
        ) STRICT;
        CREATE INDEX route_job_of_service ON route_job (service, state, modified);
        CREATE INDEX route_job_unfinished ON route_job (id) WHERE state < 2;
        """
}
