extension Schema {
    /// The step from version 8 to 9. The numbers of changes go on from the old ones, and become times.
    static let fenceHistory = """
        CREATE TABLE fence_clock (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            last INTEGER NOT NULL,
            forgotten INTEGER NOT NULL
        ) STRICT;
        INSERT INTO fence_clock (id, last, forgotten)
        SELECT 1, COALESCE(MAX(seq), 1), COALESCE((SELECT MIN(version) - 1 FROM fence_news), MAX(seq), 1)
        FROM sqlite_sequence WHERE name = 'fence_news';

        CREATE TABLE new_fence_news (
            version INTEGER PRIMARY KEY,
            service INTEGER NOT NULL REFERENCES service (id),
            fence INTEGER NOT NULL,
            time INTEGER NOT NULL,
            everyone INTEGER NOT NULL CHECK (everyone IN (0, 1)),
            entities TEXT
        ) STRICT;
        INSERT INTO new_fence_news SELECT version, service, fence, time, everyone, entities FROM fence_news;
        DROP TABLE fence_news;
        ALTER TABLE new_fence_news RENAME TO fence_news;
        CREATE INDEX fence_news_by_age ON fence_news (time);
        CREATE INDEX fence_by_version ON fence (service, version);

        CREATE TABLE former_fence (
            service INTEGER NOT NULL REFERENCES service (id),
            fence INTEGER NOT NULL,
            version INTEGER NOT NULL,
            until INTEGER NOT NULL,
            replaced INTEGER NOT NULL,
            everyone_since INTEGER,
            content BLOB NOT NULL,
            PRIMARY KEY (service, fence, version)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX former_fence_by_end ON former_fence (service, until);

        CREATE TABLE former_watch (
            service INTEGER NOT NULL,
            entity TEXT NOT NULL,
            fence INTEGER NOT NULL,
            until INTEGER NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY (service, entity, fence, until)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX former_watch_by_end ON former_watch (until);

        ALTER TABLE alarm ADD COLUMN stale INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1));
        ALTER TABLE alarm ADD COLUMN reported INTEGER NOT NULL DEFAULT 0 CHECK (reported IN (0, 1));
        """
}
