import TrackStore

extension Schema {
    /// Boxes with certificates of their own. A device that was forgotten stays as a row without content, because its number never
    /// comes again.
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

extension Schema {
    /// What a key may be used for. The keys of former versions go on doing what they did.
    static let keyRights = """
        ALTER TABLE access_key ADD COLUMN scopes INTEGER NOT NULL DEFAULT \(KeyScopes.former.rawValue);
        ALTER TABLE access_key ADD COLUMN ends INTEGER;
        ALTER TABLE access_key ADD COLUMN addresses TEXT;
        ALTER TABLE access_key ADD COLUMN referers TEXT;
        """
}

// Steps 21 to 23: what vehicles may do to entities with a past, to fences of others, and to the order of messages.
extension Schema {
    /// Whether vehicles of a token become entities with a past by themselves, and whether a device proves its key at each renewal.
    static let proofs = """
        ALTER TABLE token ADD COLUMN takes_past INTEGER NOT NULL DEFAULT 0 CHECK (takes_past IN (0, 1));
        ALTER TABLE device ADD COLUMN proves INTEGER NOT NULL DEFAULT 0 CHECK (proves IN (0, 1));
        """

    /// The vehicle that made a fence; NULL: the operator did. What was made before this column counts as the operator's.
    static let fenceMakers = """
        ALTER TABLE fence ADD COLUMN maker TEXT;
        """

    /// Which pushes go first: an entity's messages from the operator do not wait behind those that vehicles cause.
    static let pushOrder = """
        ALTER TABLE push ADD COLUMN is_first INTEGER NOT NULL DEFAULT 0 CHECK (is_first IN (0, 1));
        UPDATE push SET is_first = 1 WHERE message IN (SELECT id FROM push_message WHERE type BETWEEN 65 AND 255);
        CREATE INDEX push_first ON push (entity, message) WHERE acknowledged IS NULL AND is_first = 1;
        """
}

extension Schema {
    /// When a login of a device was refused last because two computers are it.
    static let clones = """
        ALTER TABLE device ADD COLUMN cloned INTEGER;
        """
}

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

extension Schema {
    /// How the Web API answers the clients of a service: null as the configuration says.
    static let answers = """
        ALTER TABLE service ADD COLUMN vertexes INTEGER CHECK (vertexes IN (0, 1));
        ALTER TABLE service ADD COLUMN unknown_entity INTEGER CHECK (unknown_entity IN (0, 3003));
        """
}

extension Schema {
    /// For how many days a service keeps its points: null as the configuration says, 0 for ever.
    static let retention = """
        ALTER TABLE service ADD COLUMN retention INTEGER CHECK (retention >= 0);
        """
}

extension Schema {
    /// How far the deletion of a service is: null for a service in use, 1 while rows of it are left, 2 when none is. The row
    /// itself stays without content, so that nobody gets its number again. The indexes find what is left of a service without reading whole
    /// tables.
    static let deletion = """
        ALTER TABLE service ADD COLUMN deletion INTEGER CHECK (deletion IN (1, 2));
        CREATE INDEX push_message_of_service ON push_message (service);
        CREATE INDEX token_of_service ON token (service);
        CREATE INDEX fence_news_of_service ON fence_news (service);
        """
}

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

extension Schema {
    /// The step from version 24 to 25. One feed of changes, in place of a number in the row of each device.
    static let changes = """
        CREATE TABLE change (
            number INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL,
            service INTEGER,
            device BLOB
        ) STRICT;
        CREATE INDEX access_key_by_end ON access_key (ends) WHERE ends IS NOT NULL;

        CREATE TABLE new_device (
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
            pending INTEGER NOT NULL DEFAULT 0 CHECK (pending IN (0, 1)),
            token INTEGER REFERENCES token (number),
            serial TEXT,
            model TEXT,
            claimed_from TEXT,
            issued INTEGER,
            machine BLOB CHECK (length(machine) = 32),
            cloned INTEGER,
            proves INTEGER NOT NULL DEFAULT 0 CHECK (proves IN (0, 1)),
            CHECK ((state = 2) = (key_hash IS NULL))
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_device
        SELECT id, service, state, entity, former_entities, name, key_hash, created, certificate_end, seen, address,
            agent_version, pending, token, serial, model, claimed_from, issued, machine, cloned, proves FROM device;
        DROP TABLE device;
        ALTER TABLE new_device RENAME TO device;
        CREATE INDEX device_of_service ON device (service, created, id);
        CREATE INDEX device_of_token ON device (token, serial) WHERE token IS NOT NULL;
        CREATE INDEX device_of_entity ON device (service, entity);
        """
}
