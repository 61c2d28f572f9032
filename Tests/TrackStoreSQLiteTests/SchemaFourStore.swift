/// A small store of schema 4 as SQL, dumped from a file that the program of that schema wrote.
///
/// Service 1 has the entities truck (two streams, merged and small chunks, a custom point), idle (nothing) and van (of the
/// first stream, with a hint), a column with a value, a key and two pushes; service 2 has a truck of its own.
enum SchemaFourStore {
    static let sql = #"""
        PRAGMA foreign_keys = OFF;
        BEGIN TRANSACTION;
        CREATE TABLE access_key (
            hash BLOB NOT NULL CHECK (length(hash) = 32),
            service INTEGER NOT NULL REFERENCES service (id),
            secret TEXT,
            disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
            created INTEGER NOT NULL,
            PRIMARY KEY (hash, service)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO "access_key" VALUES(X'2C70E12B7A0646F92279F427C7B38E7334D8E5389CFF167A1DC30E73F826B683',1,'sk',0,1700000001000);
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
        INSERT INTO "attribute_column" VALUES(1,1,1,'team',3,'',1,1700000001000);
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
        INSERT INTO "chunk" VALUES(1,1,1700000001000,1700001006000,18,0,1,1700000007000,X'06E05D06C0CD7806',X'016945E7F2B5F423E86FF80000789B0400003C4D81F5E8007809528DEC35B767CB1C98D40202020408102082000647800647781041061D0080808102040820800362800D89E0410400');
        INSERT INTO "chunk" VALUES(3,3,1700000013000,1700000018000,6,0,1,1700000019000,NULL,X'01E5179FCB35908FA057A001E0254A37BA96DD9F31B26350080808187402020200');
        INSERT INTO "chunk" VALUES(4,1,1700000019000,1700000024000,6,0,0,1700000025000,NULL,X'01E5179FCB64708FA057A001E0254A37BF76DD9F34526350080808187402020200');
        INSERT INTO "chunk" VALUES(5,1,1700000003000,1700000003000,1,0,0,1700000050000,NULL,X'0195179FCAE770C0E03C1A946F64EDBB3E5AA0');
        INSERT INTO "chunk" VALUES(6,4,1700000003000,1700000003000,1,0,0,1700000050000,NULL,X'0195179FCAE770AF400F06A51BD93B6ECF96A8');
        CREATE TABLE entity (
            id INTEGER PRIMARY KEY,
            service INTEGER NOT NULL REFERENCES service (id),
            name TEXT NOT NULL,
            description TEXT NOT NULL,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            UNIQUE (service, name)
        ) STRICT;
        INSERT INTO "entity" VALUES(1,1,'truck','blue',1700000002000,1700000002000);
        INSERT INTO "entity" VALUES(2,1,'idle','',1700000003000,1700000003000);
        INSERT INTO "entity" VALUES(3,1,'van','',1700000019000,1700000019000);
        INSERT INTO "entity" VALUES(4,2,'truck','',1700000050000,1700000050000);
        CREATE TABLE entity_value (
            attribute_column INTEGER NOT NULL REFERENCES attribute_column (id),
            entity INTEGER NOT NULL REFERENCES entity (id),
            value TEXT NOT NULL,
            PRIMARY KEY (attribute_column, entity)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO "entity_value" VALUES(1,1,'north');
        CREATE TABLE hint (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            time INTEGER NOT NULL,
            latitude INTEGER NOT NULL,
            longitude INTEGER NOT NULL,
            received INTEGER NOT NULL,
            payload BLOB NOT NULL
        ) STRICT;
        INSERT INTO "hint" VALUES(3,1700000040000,520000520,43000280,1700000060000,X'0195179FCC0880AF400F06A51BE8436ECF9EC0');
        CREATE TABLE latest (
            entity INTEGER PRIMARY KEY REFERENCES entity (id),
            time INTEGER NOT NULL,
            latitude INTEGER NOT NULL,
            longitude INTEGER NOT NULL,
            received INTEGER NOT NULL,
            payload BLOB NOT NULL
        ) STRICT;
        INSERT INTO "latest" VALUES(1,1700001006000,520013078,43007042,1700001007000,X'0195179FE98360AF400F06A51D70B36ED07210');
        INSERT INTO "latest" VALUES(3,1700000018000,520000234,43000126,1700000019000,X'0195179FCB5CA0AF400F06A51BDF536ECF99F0');
        INSERT INTO "latest" VALUES(4,1700000003000,520000039,43000021,1700000050000,X'0195179FCAE770AF400F06A51BD93B6ECF96A8');
        CREATE TABLE push (
            id INTEGER PRIMARY KEY,
            message INTEGER NOT NULL REFERENCES push_message (id),
            entity INTEGER NOT NULL REFERENCES entity (id),
            acknowledged INTEGER,
            given_up INTEGER,
            UNIQUE (message, entity)
        ) STRICT;
        INSERT INTO "push" VALUES(1098473695121135303,1,1,1700000082000,NULL);
        INSERT INTO "push" VALUES(3499409463091382369,2,2,NULL,NULL);
        INSERT INTO "push" VALUES(5507206667146732959,2,3,NULL,NULL);
        INSERT INTO "push" VALUES(6315900727703390953,1,3,NULL,NULL);
        INSERT INTO "push" VALUES(8149291961041872786,2,1,NULL,1700000083000);
        CREATE TABLE push_message (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service INTEGER NOT NULL REFERENCES service (id),
            type INTEGER NOT NULL,
            body TEXT NOT NULL,
            created INTEGER NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT;
        INSERT INTO "push_message" VALUES(1,1,65,'{"text":"one"}',1700000070000,1700604870000);
        INSERT INTO "push_message" VALUES(2,1,65,'{"text":"two"}',1700000080000,1700604880000);
        CREATE TABLE service (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            created INTEGER NOT NULL
        ) STRICT;
        INSERT INTO "service" VALUES(1,'fleet',1700000000000);
        INSERT INTO "service" VALUES(2,'other',1700000001000);
        CREATE TABLE stream (
            service INTEGER NOT NULL REFERENCES service (id),
            stream BLOB NOT NULL CHECK (length(stream) = 16),
            stored_through INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            PRIMARY KEY (service, stream)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO "stream" VALUES(1,X'00000000000000070000000000000001',24,1700000025000);
        INSERT INTO "stream" VALUES(1,X'00000000000000070000000000000002',1006,1700001007000);
        CREATE INDEX access_key_of_service ON access_key (service);
        CREATE INDEX chunk_by_time ON chunk (entity, first_time, id, last_time, count, settled);
        CREATE INDEX chunk_unsettled ON chunk (entity, first_time, count, received) WHERE settled = 0;
        CREATE INDEX entity_value_by_entity ON entity_value (entity);
        CREATE INDEX push_message_by_age ON push_message (created);
        CREATE INDEX push_pending ON push (entity, message) WHERE acknowledged IS NULL;
        DELETE FROM "sqlite_sequence";
        INSERT INTO "sqlite_sequence" VALUES('push_message',2);
        COMMIT;
        PRAGMA application_id = 1396788050;
        PRAGMA user_version = 4;
        """#
}
