extension Schema {
    /// The step from version 7 to 8.
    static let fences = """
        CREATE TABLE fence_counter (
            service INTEGER PRIMARY KEY REFERENCES service (id),
            last INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE fence (
            service INTEGER NOT NULL REFERENCES service (id),
            id INTEGER NOT NULL CHECK (id > 0),
            version INTEGER NOT NULL,
            watch INTEGER NOT NULL CHECK (watch IN (0, 1, 2, 3)),
            everyone_since INTEGER,
            content BLOB NOT NULL,
            PRIMARY KEY (service, id),
            CHECK ((watch = 3) = (everyone_since IS NOT NULL))
        ) STRICT;
        CREATE INDEX fence_by_watch ON fence (service, watch, id);

        CREATE TABLE fence_watch (
            service INTEGER NOT NULL,
            entity TEXT NOT NULL,
            fence INTEGER NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY (service, entity, fence),
            FOREIGN KEY (service, fence) REFERENCES fence (service, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX fence_watch_by_fence ON fence_watch (service, fence);

        CREATE TABLE fence_news (
            version INTEGER PRIMARY KEY AUTOINCREMENT,
            service INTEGER NOT NULL REFERENCES service (id),
            fence INTEGER NOT NULL,
            time INTEGER NOT NULL,
            everyone INTEGER NOT NULL CHECK (everyone IN (0, 1)),
            entities TEXT
        ) STRICT;
        CREATE INDEX fence_news_by_age ON fence_news (time);

        CREATE TABLE alarm (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service INTEGER NOT NULL REFERENCES service (id),
            entity TEXT NOT NULL,
            received INTEGER NOT NULL,
            key BLOB NOT NULL CHECK (length(key) = 16),
            source INTEGER NOT NULL CHECK (source IN (3, 4)),
            fence INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            name TEXT NOT NULL,
            group_name TEXT,
            action TEXT NOT NULL,
            time INTEGER NOT NULL,
            latitude INTEGER NOT NULL,
            longitude INTEGER NOT NULL,
            accuracy INTEGER,
            speed INTEGER,
            previous_time INTEGER,
            previous_latitude INTEGER,
            previous_longitude INTEGER,
            previous_accuracy INTEGER,
            previous_speed INTEGER,
            previous_received INTEGER,
            crossing_time INTEGER NOT NULL,
            crossing_latitude INTEGER NOT NULL,
            crossing_longitude INTEGER NOT NULL,
            crossing_estimated INTEGER NOT NULL CHECK (crossing_estimated IN (0, 1)),
            crossing_earliest INTEGER NOT NULL,
            crossing_latest INTEGER NOT NULL,
            inside INTEGER,
            skipped INTEGER NOT NULL,
            speed_limit INTEGER,
            parameters TEXT,
            UNIQUE (service, key)
        ) STRICT;
        CREATE INDEX alarm_by_time ON alarm (service, received, id);
        CREATE INDEX alarm_by_entity ON alarm (service, entity, received, id);

        CREATE TABLE callback_target (
            service INTEGER PRIMARY KEY REFERENCES service (id),
            url TEXT NOT NULL,
            secret TEXT NOT NULL,
            retry_at INTEGER,
            sender INTEGER,
            claimed_through INTEGER,
            CHECK ((sender IS NULL) = (claimed_through IS NULL))
        ) STRICT;

        CREATE TABLE callback (
            service INTEGER NOT NULL REFERENCES callback_target (service),
            alarm INTEGER NOT NULL REFERENCES alarm (id),
            first_tried INTEGER,
            PRIMARY KEY (service, alarm)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX callback_by_alarm ON callback (alarm);

        CREATE TABLE district (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            source TEXT NOT NULL,
            name TEXT NOT NULL,
            parent INTEGER REFERENCES district (id),
            shape BLOB NOT NULL
        ) STRICT;
        CREATE INDEX district_by_source ON district (source);
        CREATE INDEX district_by_parent ON district (parent);

        CREATE TABLE district_list (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            version INTEGER NOT NULL
        ) STRICT;
        INSERT INTO district_list (id, version) VALUES (1, 0);
        """
}

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
