/// The tables of the records, as they are in the present version of the schema. docs/formats/track-store.md says what their
/// columns mean.
package enum RecordTables {
    /// A table stands behind those to which it refers.
    package static let all = services + entities + devices + fences + alarms + jobs + changes

    /// The version of the schema that these tables make.
    package static let version = all.reduce(RecordTable.firstDeclared) { max($0, $1.version) }

    private static let services: [RecordTable] = [
        RecordTable(
            "service",
            """
            id INTEGER PRIMARY KEY
            name TEXT NOT NULL
            created INTEGER NOT NULL
            app_code TEXT
            retention INTEGER CHECK (retention >= 0)
            deletion INTEGER CHECK (deletion IN (1, 2))
            vertexes INTEGER CHECK (vertexes IN (0, 1))
            unknown_entity INTEGER CHECK (unknown_entity IN (0, 3003))
            """),
        RecordTable(
            "access_key", isClustered: true,
            """
            hash BYTES NOT NULL CHECK (length(hash) = 32)
            service INTEGER NOT NULL REFERENCES service (id)
            secret TEXT
            disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1))
            created INTEGER NOT NULL
            scopes INTEGER NOT NULL DEFAULT 11
            ends INTEGER
            addresses TEXT
            referers TEXT
            PRIMARY KEY (hash, service)
            INDEX access_key_of_service (service)
            INDEX access_key_by_end (ends) WHERE ends IS NOT NULL
            """),
        RecordTable(
            "attribute_column",
            """
            id SERIAL REUSED
            service INTEGER NOT NULL REFERENCES service (id)
            kind INTEGER NOT NULL CHECK (kind IN (0, 1))
            key TEXT NOT NULL
            type INTEGER NOT NULL CHECK (type IN (1, 2, 3))
            description TEXT NOT NULL
            searchable INTEGER NOT NULL CHECK (searchable IN (0, 1))
            created INTEGER NOT NULL
            UNIQUE (service, kind, key)
            """),
    ]

    private static let entities: [RecordTable] = [
        RecordTable(
            "entity",
            """
            id INTEGER PRIMARY KEY
            service INTEGER NOT NULL REFERENCES service (id)
            name TEXT NOT NULL
            description TEXT NOT NULL
            created INTEGER NOT NULL
            modified INTEGER NOT NULL
            UNIQUE (service, name)
            """),
        RecordTable(
            "entity_value", isClustered: true,
            """
            attribute_column INTEGER NOT NULL REFERENCES attribute_column (id)
            entity INTEGER NOT NULL REFERENCES entity (id)
            value TEXT NOT NULL
            PRIMARY KEY (attribute_column, entity)
            INDEX entity_value_by_entity (entity)
            """),
    ]

    private static let devices: [RecordTable] = [
        RecordTable(
            "token",
            """
            number SERIAL
            hash BYTES NOT NULL UNIQUE CHECK (length(hash) = 32)
            service INTEGER NOT NULL REFERENCES service (id)
            uses INTEGER NOT NULL CHECK (uses > 0)
            used INTEGER NOT NULL DEFAULT 0 CHECK (used BETWEEN 0 AND uses)
            last_name INTEGER NOT NULL DEFAULT 0
            ends INTEGER
            pattern TEXT NOT NULL
            approval INTEGER NOT NULL CHECK (approval IN (0, 1, 2))
            note TEXT NOT NULL
            created INTEGER NOT NULL
            revoked INTEGER
            takes_past INTEGER NOT NULL DEFAULT 0 CHECK (takes_past IN (0, 1))
            INDEX token_of_service (service)
            """),
        RecordTable(
            "token_serial", isClustered: true,
            """
            token INTEGER NOT NULL REFERENCES token (number)
            serial TEXT NOT NULL
            PRIMARY KEY (token, serial)
            """),
        RecordTable(
            "device", isClustered: true,
            """
            id BYTES PRIMARY KEY CHECK (length(id) = 16)
            service INTEGER NOT NULL REFERENCES service (id)
            state INTEGER NOT NULL CHECK (state IN (0, 1, 2))
            entity TEXT NOT NULL
            former_entities TEXT NOT NULL
            name TEXT NOT NULL
            key_hash BYTES UNIQUE CHECK (length(key_hash) = 32)
            created INTEGER NOT NULL
            certificate_end INTEGER NOT NULL
            seen INTEGER
            address TEXT
            agent_version TEXT
            pending INTEGER NOT NULL DEFAULT 0 CHECK (pending IN (0, 1))
            token INTEGER REFERENCES token (number)
            serial TEXT
            model TEXT
            claimed_from TEXT
            issued INTEGER
            machine BYTES CHECK (length(machine) = 32)
            cloned INTEGER
            proves INTEGER NOT NULL DEFAULT 0 CHECK (proves IN (0, 1))
            CHECK ((state = 2) = (key_hash IS NULL))
            INDEX device_of_service (service, created, id)
            INDEX device_of_token (token, serial) WHERE token IS NOT NULL
            INDEX device_of_entity (service, entity) 
            """),
        RecordTable(
            "health",
            """
            entity INTEGER PRIMARY KEY REFERENCES entity (id)
            heard INTEGER NOT NULL
            has_left INTEGER NOT NULL CHECK (has_left IN (0, 1))
            agent_version TEXT NOT NULL
            device BYTES CHECK (length(device) = 16)
            reported INTEGER
            report BYTES
            CHECK ((reported IS NULL) = (report IS NULL))
            """),
    ]

    private static let jobs: [RecordTable] = [
        RecordTable(
            "export_job",
            """
            id SERIAL
            service INTEGER NOT NULL REFERENCES service (id)
            from_time INTEGER NOT NULL
            through_time INTEGER NOT NULL
            coordinate_type TEXT NOT NULL
            token TEXT NOT NULL UNIQUE
            created INTEGER NOT NULL
            modified INTEGER NOT NULL
            state INTEGER NOT NULL CHECK (state IN (0, 1, 2))
            points INTEGER
            bytes INTEGER
            worker INTEGER
            claimed_through INTEGER
            CHECK ((state = 2) = (points IS NOT NULL) AND (points IS NULL) = (bytes IS NULL))
            INDEX export_job_of_service (service)
            INDEX export_job_unfinished (id) WHERE state < 2
            """),
        RecordTable(
            "route_job",
            """
            id SERIAL
            service INTEGER NOT NULL REFERENCES service (id)
            entity INTEGER NOT NULL REFERENCES entity (id)
            from_time INTEGER NOT NULL
            through_time INTEGER NOT NULL
            minutes INTEGER NOT NULL
            processing TEXT NOT NULL
            created INTEGER NOT NULL
            modified INTEGER NOT NULL
            state INTEGER NOT NULL CHECK (state IN (0, 1, 2))
            routes BYTES
            refusal INTEGER
            reason TEXT
            worker INTEGER
            claimed_through INTEGER
            UNIQUE (entity, from_time, through_time, minutes, processing)
            CHECK ((state = 2) = (routes IS NOT NULL OR refusal IS NOT NULL) \
                AND (routes IS NULL OR refusal IS NULL) AND (refusal IS NULL) = (reason IS NULL))
            INDEX route_job_of_service (service, state, modified)
            INDEX route_job_unfinished (id) WHERE state < 2
            """),
    ]

    private static let changes: [RecordTable] = [
        RecordTable(
            "change",
            """
            number INTEGER PRIMARY KEY
            kind INTEGER NOT NULL
            service INTEGER
            device BYTES
            """)
    ]
}
