extension RecordTables {
    static let fences: [RecordTable] = [
        RecordTable(
            "fence_counter",
            """
            service INTEGER PRIMARY KEY REFERENCES service (id)
            last INTEGER NOT NULL
            """),
        RecordTable(
            "fence_clock",
            """
            id INTEGER PRIMARY KEY CHECK (id = 1)
            last INTEGER NOT NULL
            forgotten INTEGER NOT NULL
            ROW (1, 1, 1)
            """),
        RecordTable(
            "fence",
            """
            service INTEGER NOT NULL REFERENCES service (id)
            id INTEGER NOT NULL CHECK (id > 0)
            version INTEGER NOT NULL
            watch INTEGER NOT NULL CHECK (watch IN (0, 1, 2, 3))
            everyone_since INTEGER
            content BYTES NOT NULL
            maker TEXT
            PRIMARY KEY (service, id)
            CHECK ((watch = 3) = (everyone_since IS NOT NULL))
            INDEX fence_by_watch (service, watch, id)
            INDEX fence_by_version (service, version)
            """),
        RecordTable(
            "fence_watch", isClustered: true,
            """
            service INTEGER NOT NULL
            entity TEXT NOT NULL
            fence INTEGER NOT NULL
            since INTEGER NOT NULL
            version INTEGER NOT NULL DEFAULT 0
            PRIMARY KEY (service, entity, fence)
            FOREIGN KEY (service, fence) REFERENCES fence (service, id)
            INDEX fence_watch_by_fence (service, fence)
            """),
        RecordTable(
            "fence_news",
            """
            version INTEGER PRIMARY KEY
            service INTEGER NOT NULL REFERENCES service (id)
            fence INTEGER NOT NULL
            time INTEGER NOT NULL
            everyone INTEGER NOT NULL CHECK (everyone IN (0, 1))
            entities TEXT
            INDEX fence_news_by_age (time)
            INDEX fence_news_of_service (service)
            """),
        RecordTable(
            "former_fence", isClustered: true,
            """
            service INTEGER NOT NULL REFERENCES service (id)
            fence INTEGER NOT NULL
            version INTEGER NOT NULL
            until INTEGER NOT NULL
            replaced INTEGER NOT NULL
            everyone_since INTEGER
            content BYTES NOT NULL
            PRIMARY KEY (service, fence, version)
            INDEX former_fence_by_end (service, until)
            """),
        RecordTable(
            "former_watch", isClustered: true,
            """
            service INTEGER NOT NULL
            entity TEXT NOT NULL
            fence INTEGER NOT NULL
            until INTEGER NOT NULL
            since INTEGER NOT NULL
            version INTEGER NOT NULL DEFAULT 0
            PRIMARY KEY (service, entity, fence, until)
            INDEX former_watch_by_end (until)
            INDEX former_watch_by_fence (service, fence, until)
            """),
        RecordTable(
            "district",
            """
            id SERIAL
            source TEXT NOT NULL
            name TEXT NOT NULL
            parent INTEGER REFERENCES district (id)
            shape BYTES NOT NULL
            INDEX district_by_source (source)
            INDEX district_by_parent (parent)
            """),
        RecordTable(
            "district_list",
            """
            id INTEGER PRIMARY KEY CHECK (id = 1)
            version INTEGER NOT NULL
            ROW (1, 0)
            """),
    ]

    static let alarms: [RecordTable] = [
        RecordTable(
            "alarm",
            """
            id SERIAL
            service INTEGER NOT NULL REFERENCES service (id)
            entity TEXT NOT NULL
            received INTEGER NOT NULL
            key BYTES NOT NULL CHECK (length(key) = 16)
            source INTEGER NOT NULL CHECK (source IN (3, 4))
            fence INTEGER NOT NULL
            revision INTEGER NOT NULL
            name TEXT NOT NULL
            group_name TEXT
            action TEXT NOT NULL
            time INTEGER NOT NULL
            latitude INTEGER NOT NULL
            longitude INTEGER NOT NULL
            accuracy INTEGER
            speed INTEGER
            previous_time INTEGER
            previous_latitude INTEGER
            previous_longitude INTEGER
            previous_accuracy INTEGER
            previous_speed INTEGER
            previous_received INTEGER
            crossing_time INTEGER NOT NULL
            crossing_latitude INTEGER NOT NULL
            crossing_longitude INTEGER NOT NULL
            crossing_estimated INTEGER NOT NULL CHECK (crossing_estimated IN (0, 1))
            crossing_earliest INTEGER NOT NULL
            crossing_latest INTEGER NOT NULL
            inside INTEGER
            skipped INTEGER NOT NULL
            speed_limit INTEGER
            parameters TEXT
            stale INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1))
            reported INTEGER NOT NULL DEFAULT 0 CHECK (reported IN (0, 1))
            UNIQUE (service, key)
            INDEX alarm_by_time (service, received, id)
            INDEX alarm_by_entity (service, entity, received, id)
            """),
        RecordTable(
            "callback_target",
            """
            service INTEGER PRIMARY KEY REFERENCES service (id)
            url TEXT NOT NULL
            secret TEXT NOT NULL
            retry_at INTEGER
            sender INTEGER
            claimed_through INTEGER
            CHECK ((sender IS NULL) = (claimed_through IS NULL))
            """),
        RecordTable(
            "callback", isClustered: true,
            """
            service INTEGER NOT NULL REFERENCES callback_target (service)
            alarm INTEGER NOT NULL REFERENCES alarm (id)
            first_tried INTEGER
            PRIMARY KEY (service, alarm)
            INDEX callback_by_alarm (alarm)
            """),
        RecordTable(
            "push_message",
            """
            id SERIAL
            service INTEGER NOT NULL REFERENCES service (id)
            type INTEGER NOT NULL
            body TEXT NOT NULL
            created INTEGER NOT NULL
            expires INTEGER NOT NULL
            INDEX push_message_by_age (created)
            INDEX push_message_of_service (service)
            """),
        RecordTable(
            "push",
            """
            id INTEGER PRIMARY KEY
            message INTEGER NOT NULL REFERENCES push_message (id)
            entity INTEGER REFERENCES entity (id)
            former_entity TEXT
            acknowledged INTEGER
            given_up INTEGER
            withdrawn INTEGER
            is_first INTEGER NOT NULL DEFAULT 0 CHECK (is_first IN (0, 1))
            UNIQUE (message, entity)
            CHECK ((entity IS NULL) = (former_entity IS NOT NULL))
            INDEX push_pending (entity, message) WHERE acknowledged IS NULL
            INDEX push_by_entity (entity)
            INDEX push_first (entity, message) WHERE acknowledged IS NULL AND is_first = 1
            """),
    ]
}
