/// A small store of schema 13 as SQL, dumped from a file that the program of that schema wrote.
///
/// Service 1 has a key and three devices: one that was van_01 and is truck, a revoked van_02, and one that was forgotten.
enum SchemaThirteenStore {
    static let sql = #"""
        PRAGMA foreign_keys=OFF;
        BEGIN TRANSACTION;
        CREATE TABLE service (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            created INTEGER NOT NULL
        , app_code TEXT) STRICT;
        INSERT INTO service VALUES(1,'Fleet',1795460472019,NULL);
        CREATE TABLE access_key (
            hash BLOB NOT NULL CHECK (length(hash) = 32),
            service INTEGER NOT NULL REFERENCES service (id),
            secret TEXT,
            disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
            created INTEGER NOT NULL, scopes INTEGER NOT NULL DEFAULT 11, ends INTEGER, addresses TEXT, referers TEXT,
            PRIMARY KEY (hash, service)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO access_key VALUES(X'e8c756289040e7f47ea611b89ca84193aa9b34337782d64011399a83691f4046',1,NULL,0,1795460472024,11,NULL,NULL,NULL);
        CREATE TABLE entity (
            id INTEGER PRIMARY KEY,
            service INTEGER NOT NULL REFERENCES service (id),
            name TEXT NOT NULL,
            description TEXT NOT NULL,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            UNIQUE (service, name)
        ) STRICT;
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
        CREATE TABLE hint (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            time INTEGER NOT NULL,
            latitude INTEGER NOT NULL,
            longitude INTEGER NOT NULL,
            received INTEGER NOT NULL,
            payload BLOB NOT NULL
        , service INTEGER, datum INTEGER, cell INTEGER) STRICT;
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
        INSERT INTO counter VALUES(1,0,NULL);
        CREATE TABLE state (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            version INTEGER NOT NULL,
            fences BLOB,
            time INTEGER,
            latitude INTEGER,
            longitude INTEGER,
            received INTEGER,
            payload BLOB
        , service INTEGER, datum INTEGER, cell INTEGER) STRICT;
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
        PRAGMA writable_schema=ON;
        INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','entity_text','entity_text',0,'CREATE VIRTUAL TABLE entity_text USING fts5 (
            grams, content = '''', detail = none, tokenize = ''ascii''
        )');
        CREATE TABLE IF NOT EXISTS 'entity_text_data'(id INTEGER PRIMARY KEY, block BLOB);
        INSERT INTO entity_text_data VALUES(1,X'');
        INSERT INTO entity_text_data VALUES(10,X'00000000000000');
        CREATE TABLE IF NOT EXISTS 'entity_text_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS 'entity_text_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
        CREATE TABLE IF NOT EXISTS 'entity_text_config'(k PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO entity_text_config VALUES('version',4);
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
        INSERT INTO device VALUES(X'1ebb11defa9342f8b5152193808da75e',1,0,'truck','van_01','box 1',X'131adaaa8e21a40e7281a6b0da38ba674fd4c8fbd0bc5d2417423e6178d31221',1795460472105,1827082872000,NULL,NULL,NULL,4);
        INSERT INTO device VALUES(X'2d91e757ec8345bb82c25f073ec9749e',1,2,'','','',NULL,1795460472275,1827082872000,NULL,NULL,NULL,6);
        INSERT INTO device VALUES(X'ba6ad2b7f7e647c183938ec4cee157a5',1,1,'van_02','','box 2',X'78dcda1bd533dbc20fa05211a70fffb6382b8ab5a89808a09078106d339edc74',1795460472175,1827082872000,NULL,NULL,NULL,5);
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
        CREATE INDEX state_by_cell ON state (service, cell) WHERE cell IS NOT NULL;
        CREATE INDEX hint_by_cell ON hint (service, cell) WHERE cell IS NOT NULL;
        CREATE INDEX export_job_of_service ON export_job (service);
        CREATE INDEX export_job_unfinished ON export_job (id) WHERE state < 2;
        CREATE INDEX device_of_service ON device (service, created, id);
        PRAGMA writable_schema=OFF;
        COMMIT;
        PRAGMA application_id = 1396788050;
        PRAGMA user_version = 13;
        """#
}
