extension Schema {
    /// How vehicles are: the newest of each entity that an agent has logged in as.
    static let health = """
        CREATE TABLE health (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            heard INTEGER NOT NULL,
            has_left INTEGER NOT NULL CHECK (has_left IN (0, 1)),
            agent_version TEXT NOT NULL,
            device BLOB CHECK (length(device) = 16),
            reported INTEGER,
            report BLOB,
            CHECK ((reported IS NULL) = (report IS NULL))
        ) STRICT;
        """
}
