/// A small store of schema 9 as SQL, dumped from a file that the program of that schema wrote.
///
/// Service 1 has the entities van_07 (a description, a value, a point, a hint), never (nothing), and bd, gcj and edge with a
/// point each: in BD-09, in GCJ-02, and at 180 degrees.
enum SchemaNineStore {
    static let sql = #"""
        PRAGMA foreign_keys=OFF;
        BEGIN TRANSACTION;
        CREATE TABLE service (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            created INTEGER NOT NULL
        , app_code TEXT) STRICT;
        INSERT INTO service VALUES(1,'old',1795417139463,NULL);
        CREATE TABLE access_key (
            hash BLOB NOT NULL CHECK (length(hash) = 32),
            service INTEGER NOT NULL REFERENCES service (id),
            secret TEXT,
            disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
            created INTEGER NOT NULL,
            PRIMARY KEY (hash, service)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE entity (
            id INTEGER PRIMARY KEY,
            service INTEGER NOT NULL REFERENCES service (id),
            name TEXT NOT NULL,
            description TEXT NOT NULL,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            UNIQUE (service, name)
        ) STRICT;
        INSERT INTO entity VALUES(1,1,'van_07','蓝色货车 Blue',1795417139790,1795417139790);
        INSERT INTO entity VALUES(2,1,'never','',1795417139834,1795417139834);
        INSERT INTO entity VALUES(4,1,'bd','',1795417139887,1795417139887);
        INSERT INTO entity VALUES(6,1,'gcj','',1795417139927,1795417139927);
        INSERT INTO entity VALUES(8,1,'edge','',1795417139947,1795417139947);
        CREATE TABLE IF NOT EXISTS "former_stream" (
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
        INSERT INTO chunk VALUES(3,1,1772670000000,1772670000000,1,0,0,1795417139865,NULL,X'01953976bb3700000335b4ab02c2ac3400');
        INSERT INTO chunk VALUES(5,4,1772670010000,1772670010000,1,0,0,1795417139887,NULL,X'01953976bb85200000b35b4ab02c2ac34000');
        INSERT INTO chunk VALUES(7,6,1772670010000,1772670010000,1,0,0,1795417139927,NULL,X'01953976bb85200001cd6d2ac0b0ab0d0000');
        INSERT INTO chunk VALUES(9,8,1772670010000,1772670010000,1,0,0,1795417139947,NULL,X'01953976bb85200002ae0baa035a4e9000');
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
        INSERT INTO attribute_column VALUES(1,1,1,'team',3,'',1,1795417139765);
        CREATE TABLE entity_value (
            attribute_column INTEGER NOT NULL REFERENCES attribute_column (id),
            entity INTEGER NOT NULL REFERENCES entity (id),
            value TEXT NOT NULL,
            PRIMARY KEY (attribute_column, entity)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO entity_value VALUES(1,1,'north');
        CREATE TABLE hint (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            time INTEGER NOT NULL,
            latitude INTEGER NOT NULL,
            longitude INTEGER NOT NULL,
            received INTEGER NOT NULL,
            payload BLOB NOT NULL
        ) STRICT;
        INSERT INTO hint VALUES(1,1772670020000,399500000,1165000000,1795417139988,X'01953976bbd340000335d32f82c2e93d00');
        CREATE TABLE push_message (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service INTEGER NOT NULL REFERENCES service (id),
            type INTEGER NOT NULL,
            body TEXT NOT NULL,
            created INTEGER NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE counter (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            value INTEGER NOT NULL
        , received INTEGER) STRICT;
        INSERT INTO counter VALUES(1,11,1795417139988);
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
        INSERT INTO state VALUES(1,3,NULL,1772670000000,399000000,1164000000,1795417139865,X'01953976bb3700000335b4ab02c2ac3400');
        INSERT INTO state VALUES(4,5,NULL,1772670010000,399000000,1164000000,1795417139887,X'01953976bb85200000b35b4ab02c2ac34000');
        INSERT INTO state VALUES(6,7,NULL,1772670010000,399000000,1164000000,1795417139927,X'01953976bb85200001cd6d2ac0b0ab0d0000');
        INSERT INTO state VALUES(8,9,NULL,1772670010000,-170000000,1800000000,1795417139947,X'01953976bb85200002ae0baa035a4e9000');
        CREATE TABLE claim (
            entity INTEGER NOT NULL REFERENCES entity (id),
            stream BLOB NOT NULL CHECK (length(stream) = 16),
            epoch INTEGER NOT NULL,
            stored_through INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            PRIMARY KEY (entity, stream)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS "push" (
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
        CREATE TABLE fence_watch (
            service INTEGER NOT NULL,
            entity TEXT NOT NULL,
            fence INTEGER NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY (service, entity, fence),
            FOREIGN KEY (service, fence) REFERENCES fence (service, id)
        ) STRICT, WITHOUT ROWID;
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
            parameters TEXT, stale INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)), reported INTEGER NOT NULL DEFAULT 0 CHECK (reported IN (0, 1)),
            UNIQUE (service, key)
        ) STRICT;
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
        CREATE TABLE district (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            source TEXT NOT NULL,
            name TEXT NOT NULL,
            parent INTEGER REFERENCES district (id),
            shape BLOB NOT NULL
        ) STRICT;
        CREATE TABLE district_list (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            version INTEGER NOT NULL
        ) STRICT;
        INSERT INTO district_list VALUES(1,0);
        CREATE TABLE fence_clock (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            last INTEGER NOT NULL,
            forgotten INTEGER NOT NULL
        ) STRICT;
        INSERT INTO fence_clock VALUES(1,1,1);
        CREATE TABLE IF NOT EXISTS "fence_news" (
            version INTEGER PRIMARY KEY,
            service INTEGER NOT NULL REFERENCES service (id),
            fence INTEGER NOT NULL,
            time INTEGER NOT NULL,
            everyone INTEGER NOT NULL CHECK (everyone IN (0, 1)),
            entities TEXT
        ) STRICT;
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
        CREATE TABLE former_watch (
            service INTEGER NOT NULL,
            entity TEXT NOT NULL,
            fence INTEGER NOT NULL,
            until INTEGER NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY (service, entity, fence, until)
        ) STRICT, WITHOUT ROWID;
        DELETE FROM sqlite_sequence;
        CREATE INDEX access_key_of_service ON access_key (service);
        CREATE INDEX chunk_by_time ON chunk (entity, first_time, id, last_time, count, settled);
        CREATE INDEX chunk_unsettled ON chunk (entity, first_time, count, received) WHERE settled = 0;
        CREATE INDEX entity_value_by_entity ON entity_value (entity);
        CREATE INDEX push_message_by_age ON push_message (created);
        CREATE INDEX push_pending ON push (entity, message) WHERE acknowledged IS NULL;
        CREATE INDEX push_by_entity ON push (entity);
        CREATE INDEX fence_by_watch ON fence (service, watch, id);
        CREATE INDEX fence_watch_by_fence ON fence_watch (service, fence);
        CREATE INDEX alarm_by_time ON alarm (service, received, id);
        CREATE INDEX alarm_by_entity ON alarm (service, entity, received, id);
        CREATE INDEX callback_by_alarm ON callback (alarm);
        CREATE INDEX district_by_source ON district (source);
        CREATE INDEX district_by_parent ON district (parent);
        CREATE INDEX fence_news_by_age ON fence_news (time);
        CREATE INDEX fence_by_version ON fence (service, version);
        CREATE INDEX former_fence_by_end ON former_fence (service, until);
        CREATE INDEX former_watch_by_end ON former_watch (until);
        COMMIT;
        PRAGMA application_id = 1396788050;
        PRAGMA user_version = 9;
        """#
}
