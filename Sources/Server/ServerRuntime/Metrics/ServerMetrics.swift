package import MetricsText

/// Every metric of the server; docs/metrics.md lists the same, and a test compares the two.
package enum ServerMetrics {
    /// In the order of the document.
    package static let all = general + devices + ingest + api + roads + store

    // MARK: General

    static let info = Metric("saker_server_info", .gauge, labels: ["version"], "Always 1; the label is the version.")
    static let start = Metric("saker_server_start_time_seconds", .gauge, "When the server started, seconds since 1970.")
    static let cpu = Metric("saker_server_cpu_seconds_total", .counter, "Processor time of all threads.")
    static let resident = Metric("saker_server_resident_memory_bytes", .gauge, "Resident memory of the process.")
    static let lostMessages = Metric(
        "saker_server_log_messages_lost_total", .counter,
        "Log messages that neither the journal nor standard error took at once.")
    static let certificateExpiry = Metric(
        "saker_server_certificate_expiry_timestamp_seconds", .gauge,
        "When the certificate in the configured file ends, seconds since 1970; absent when it cannot be read.")
    static let scrapes = Metric(
        "saker_server_scrapes_total", .counter, "Reads of the metrics, including this one.")

    private static let general = [info, start, cpu, resident, lostMessages, certificateExpiry, scrapes]

    // MARK: Devices

    static let connections = Metric(
        "saker_server_connections", .gauge, "Connections on the device port, in any phase.")
    static let connectionsLimit = Metric(
        "saker_server_connections_limit", .gauge, "Most connections on the device port at one time.")
    static let sessions = Metric("saker_server_sessions", .gauge, "Agents that are logged in.")
    static let accepted = Metric(
        "saker_server_connections_accepted_total", .counter, "Connections accepted on the device port.")
    static let turnedAway = Metric(
        "saker_server_connections_turned_away_total", .counter,
        "Connections closed because there were too many: the new one, or for the new one the oldest without a login, or a session whose vehicle has a newer one."
    )
    static let handshakes = Metric(
        "saker_server_handshake_failures_total", .counter,
        "Connections on the device port whose TLS handshake failed or took too long.")
    static let logins = Metric("saker_server_logins_total", .counter, "Logins that succeeded.")
    static let surplusSessions = Metric(
        "saker_server_sessions_surplus_total", .counter, "Sessions that ended because their vehicle had too many.")
    static let pushesLeftOut = Metric(
        "saker_server_pushes_left_out_total", .counter,
        "Messages about alarms of other entities that were not queued, because too many waited for the receiver.")
    static let refusals = Metric(
        "saker_server_login_refusals_total", .counter, labels: ["reason"], "Logins that were refused, by reason.")
    static let violations = Metric(
        "saker_server_protocol_violations_total", .counter,
        "Connections closed because a frame broke a rule of the protocol.")
    static let calls = Metric("saker_server_device_calls_active", .gauge, "Calls of agents that are being answered.")
    static let refusedHints = Metric(
        "saker_server_live_hints_refused_total", .counter, "Live hints that broke a rule and were not kept.")
    static let sentPushes = Metric(
        "saker_server_pushes_sent_total", .counter, "Pushes sent to agents; each attempt counts.")
    static let acknowledgedPushes = Metric(
        "saker_server_pushes_acknowledged_total", .counter, "Pushes that an agent has acknowledged.")
    static let givenUpPushes = Metric(
        "saker_server_pushes_given_up_total", .counter,
        "Pushes that a session gave up because the agent did not acknowledge them; the next login sends them again.")
    static let forgottenPushes = Metric(
        "saker_server_push_outcomes_forgotten_total", .counter,
        "Acknowledgements of pushes that the store did not take; the next login sends these pushes again.")

    static let registeredDevices = Metric(
        "saker_server_devices", .gauge, labels: ["state"],
        "Vehicles with keys of their own: approved, pending (they wait for a person), revoked; absent when the store cannot "
            + "tell.")
    static let claims = Metric(
        "saker_server_claims_total", .counter, labels: ["status"],
        "Claims and renewals of vehicles: issued, again, pending, renewed, or the code of the refusal.")

    static let vehicles = Metric(
        "saker_server_vehicles", .gauge, labels: ["state"],
        "Vehicles that are expected, by the worst that is known of them; absent while the store cannot tell.")

    private static let devices = [
        connections, connectionsLimit, sessions, accepted, turnedAway, handshakes, logins, surplusSessions, refusals,
        violations, calls,
        refusedHints, sentPushes, acknowledgedPushes, givenUpPushes, forgottenPushes, pushesLeftOut, registeredDevices,
        claims,
        vehicles,
    ]

    // MARK: Ingest

    static let points = Metric(
        "saker_server_points_stored_total", .counter, "Points of stored batches, from devices and through the Web API.")
    static let refusedPoints = Metric(
        "saker_server_points_refused_total", .counter, "Points that were not stored because they break a rule.")
    static let refusedAhead = Metric(
        "saker_server_points_refused_ahead_total", .counter,
        "Refused points whose date is too far ahead of the server's clock.")
    static let rescuedPoints = Metric(
        "saker_server_points_rescued_total", .counter,
        "Points stored although another agent had used their sequences: two agents use one stream.")
    static let batches = Metric("saker_server_batches_stored_total", .counter, "Batches stored.")
    static let duplicates = Metric(
        "saker_server_batches_duplicate_total", .counter,
        "Batches that had been stored before and were acknowledged again.")
    static let replacedBatches = Metric(
        "saker_server_batches_replaced_total", .counter,
        "Batches refused because a newer login had opened the stream, or the entity had been deleted.")
    static let staleBatches = Metric(
        "saker_server_batches_stale_total", .counter,
        "Batches given back because the entity had changed since the batch was worked out.")
    static let rewoundBatches = Metric(
        "saker_server_batches_rewound_total", .counter,
        "Batches refused because the store had lost commits that it had confirmed.")
    static let fenceAlarms = Metric(
        "saker_server_fence_alarms_total", .counter,
        "Alarms of fences that stored points caused. An alarm that the store had already counts again.")
    static let untoldAlarms = Metric(
        "saker_server_alarms_untold_total", .counter,
        "Alarms that were not stored and told, because their entity makes too many.")
    static let untoldMessages = Metric(
        "saker_server_alarm_messages_untold_total", .counter,
        "Messages of alarms to other entities that were not queued, because the sender causes too many.")
    static let latePoints = Metric(
        "saker_server_fence_late_points_total", .counter,
        "Stored points that no fence judged, because a later point of their entity had been judged before.")
    static let pointsAhead = Metric(
        "saker_server_fence_points_ahead_total", .counter,
        "Stored points that no fence judged, because they are dated more than ten minutes ahead of the server's clock.")
    static let unreadableFences = Metric(
        "saker_server_fences_unreadable", .gauge,
        "Fences that the server cannot read and so does not judge, of those that it has asked for since its start.")
    static let callbackRequests = Metric(
        "saker_server_callback_requests_total", .counter, labels: ["state"],
        "Requests with alarms to operators' URLs, by state: taken or failed.")
    static let callbackAlarms = Metric(
        "saker_server_callback_alarms_total", .counter, labels: ["state"],
        "Alarms that no longer wait for an operator's URL, by state: taken, or given_up after ten minutes.")
    static let exports = Metric(
        "saker_server_exports_total", .counter, labels: ["state"],
        "Attempts to write the file of an export job, by state: done, or failed, which is tried again.")
    static let exportedPoints = Metric(
        "saker_server_exported_points_total", .counter, "Points in the files of export jobs that are done.")
    static let failedBatches = Metric(
        "saker_server_batches_failed_total", .counter, "Batches given back because the store failed.")
    static let ignoredAttributes = Metric(
        "saker_server_batches_ignored_attributes_total", .counter,
        "Batches stored without some of their attributes, which had no track column or another type.")
    static let clockWrong = Metric(
        "saker_server_clock_wrong", .gauge,
        "1 while the server's clock cannot be right, so no points are taken; otherwise 0.")
    static let waiting = Metric(
        "saker_server_ingest_waiting_bytes", .gauge, "Memory of the batches that wait for their transaction.")
    static let commits = Metric(
        "saker_server_commit_duration_seconds", .histogram,
        "Time that the store took for a transaction with batches, to the end of its commit.")
    static let failedCommits = Metric(
        "saker_server_commit_failures_total", .counter, "Transactions with batches that failed, each try counted.")

    private static let ingest = [
        points, refusedPoints, refusedAhead, rescuedPoints, batches, duplicates, replacedBatches, staleBatches,
        rewoundBatches,
        failedBatches, fenceAlarms, untoldAlarms, untoldMessages, latePoints, pointsAhead, unreadableFences,
        callbackRequests, callbackAlarms,
        exports, exportedPoints, ignoredAttributes, clockWrong, waiting, commits, failedCommits,
    ]

    // MARK: Web API

    static let requests = Metric(
        "saker_server_api_requests_total", .counter, labels: ["via", "call", "status"],
        "Requests of the Web API, by way (http, or device for an agent's connection), call (unknown for other paths) and status of the answer."
    )
    static let requestDurations = Metric(
        "saker_server_api_request_duration_seconds", .histogram,
        "Time from the last byte of a request through HTTP to its answer.")

    static let readingsWithHoles = Metric(
        "saker_server_api_incomplete_readings_total", .counter,
        "Readings of tracks that left out points because the store cannot read them.")
    static let webConnections = Metric("saker_server_web_connections", .gauge, "Connections on the web ports.")
    static let endedConnections = Metric(
        "saker_server_web_connections_ended_total", .counter, labels: ["reason"],
        "Connections on the web ports that the server ended or refused, by reason.")
    static let requestBytes = Metric(
        "saker_server_web_request_bytes", .gauge,
        "Bytes that requests and answers hold for all connections on the web ports.")

    private static let api = [
        requests, requestDurations, readingsWithHoles, webConnections, endedConnections, requestBytes,
    ]

    // MARK: Roads

    static let roadCalls = Metric(
        "saker_server_road_calls_total", .counter, labels: ["state"],
        "Calls of the road engine, by what became of them.")
    static let roadCallDurations = Metric(
        "saker_server_road_call_duration_seconds", .histogram,
        "Time from a call of the road engine to its answer or its failure; calls that were not made do not count.")
    static let roadsOpen = Metric(
        "saker_server_roads_unavailable", .gauge,
        "1 while the road engine is not called because it did not work; otherwise 0.")
    static let roadPoints = Metric(
        "saker_server_road_points_total", .counter, labels: ["state"],
        "Points of tracks that were brought to roads, by state: matched or unmatched.")
    static let rememberedRoads = Metric(
        "saker_server_road_answers_remembered_total", .counter,
        "Answers of the road engine that the server still knew, so that it made no call.")
    static let roadMemory = Metric(
        "saker_server_road_memory_bytes", .gauge, "Memory of remembered answers of the road engine, about.")

    private static let roads = [roadCalls, roadCallDurations, roadsOpen, roadPoints, rememberedRoads, roadMemory]

    // MARK: Store

    static let storeBytes = Metric("saker_server_store_bytes", .gauge, "Size of the database and its log.")
    static let storeLimit = Metric(
        "saker_server_store_limit_bytes", .gauge, "Most bytes of the database; absent without a limit.")
    static let storeAvailable = Metric(
        "saker_server_store_available_bytes", .gauge, "Free bytes of the database's file system.")
    static let mergeRounds = Metric(
        "saker_server_merge_rounds_total", .counter, "Rounds of merging small chunks into large ones.")
    static let mergeFailures = Metric("saker_server_merge_failures_total", .counter, "Rounds of merging that failed.")
    static let mergedChunks = Metric(
        "saker_server_merge_chunks_replaced_total", .counter, "Chunks that became part of larger ones.")
    static let mergeSuccess = Metric(
        "saker_server_merge_last_success_timestamp_seconds", .gauge,
        "When merging last finished everything, seconds since 1970; absent before. The time since then says how far merging is behind."
    )
    static let mergeDuration = Metric(
        "saker_server_merge_last_duration_seconds", .gauge, "Time that the last round of merging took.")

    private static let store = [
        storeBytes, storeLimit, storeAvailable, mergeRounds, mergeFailures, mergedChunks, mergeSuccess, mergeDuration,
    ]
}
