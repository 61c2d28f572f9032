package import MetricsText

/// Every metric of the agent; docs/metrics.md lists the same, and a test compares the two.
package enum AgentMetrics {
    /// In the order of the document.
    package static let all = general + receiver + link + cache + fencing + serverFencing

    // MARK: General

    static let info = Metric("saker_agent_info", .gauge, labels: ["version"], "Always 1; the label is the version.")
    static let start = Metric(
        "saker_agent_start_time_seconds", .gauge, "When the agent started, by the system clock, seconds since 1970.")
    static let tracked = Metric(
        "saker_agent_tracked", .gauge,
        "1 when a point that is gathered now will reach the server without help from a person.")
    static let service = Metric(
        "saker_agent_service_started", .gauge, "1 when the service is started, online or not.")
    static let clockSynchronised = Metric(
        "saker_agent_clock_synchronised", .gauge, "1 when the kernel says that something synchronises the system clock."
    )
    static let clockDifference = Metric(
        "saker_agent_clock_server_difference_seconds", .gauge,
        "How far the server's clock was ahead of the system clock at the last login; absent before the first.")
    static let remembered = Metric(
        "saker_agent_remembered", .gauge, "1 when everything that the agent was told is on the disk, 0 while it is not."
    )
    static let controlSocket = Metric(
        "saker_agent_control_socket", .gauge, "1 when the control socket is open, 0 while something is in its way.")
    static let cpu = Metric("saker_agent_cpu_seconds_total", .counter, "Processor time of all threads.")
    static let resident = Metric("saker_agent_resident_memory_bytes", .gauge, "Resident memory of the process.")
    static let lostMessages = Metric(
        "saker_agent_log_messages_lost_total", .counter,
        "Log messages that neither the journal nor standard error took at once.")
    static let textfileFailures = Metric(
        "saker_agent_textfile_failures_total", .counter, "Times the metrics could not be written to the text file.")
    static let scrapes = Metric(
        "saker_agent_scrapes_total", .counter, "Reads of the metrics from the listener, including this one.")

    private static let general = [
        info, start, tracked, service, clockSynchronised, clockDifference, remembered, controlSocket, cpu, resident,
        lostMessages, textfileFailures, scrapes,
    ]

    // MARK: Receiver and points

    static let feedState = Metric(
        "saker_agent_feed_state", .gauge, labels: ["state"], "1 for the state of the receiver's feed, 0 for the others."
    )
    static let fixAge = Metric(
        "saker_agent_fix_age_seconds", .gauge, "Time since the newest fix arrived; absent before the first.")
    static let fixAccuracy = Metric(
        "saker_agent_fix_accuracy_meters", .gauge, "Estimated horizontal error of the newest fix.")
    static let fixMode = Metric("saker_agent_fix_mode", .gauge, "Dimensions of the newest fix: 2 or 3.")
    static let fixSatellites = Metric("saker_agent_fix_satellites", .gauge, "Satellites used in the newest fix.")
    static let gathering = Metric("saker_agent_gathering", .gauge, "1 when gathering is on.")
    static let gatherInterval = Metric(
        "saker_agent_gather_interval_seconds", .gauge, "The gather interval in force: the time between two points.")
    static let lastPoint = Metric(
        "saker_agent_last_point_timestamp_seconds", .gauge,
        "GNSS time of the newest point, seconds since 1970; absent before the first.")
    static let fixes = Metric("saker_agent_fixes_total", .counter, "Fixes that came from gpsd.")
    static let skipped = Metric(
        "saker_agent_fixes_skipped_total", .counter, labels: ["reason"], "Fixes that made no point, by reason.")
    static let gathered = Metric(
        "saker_agent_points_gathered_total", .counter, "Points made and given to the cache.")
    static let lost = Metric(
        "saker_agent_points_lost_total", .counter, labels: ["reason"],
        "Points that were lost before the server had them, by reason, without points that a person cleared."
    )

    private static let receiver = [
        feedState, fixAge, fixAccuracy, fixMode, fixSatellites, gathering, gatherInterval, lastPoint, fixes, skipped,
        gathered, lost,
    ]

    // MARK: Link

    static let linkState = Metric(
        "saker_agent_link_state", .gauge, labels: ["state"],
        "1 for the state of the connection to the server, 0 for the others.")
    static let offline = Metric(
        "saker_agent_link_offline_seconds", .gauge,
        "Time without a session while the service runs; 0 while there is a session.")
    static let attempts = Metric("saker_agent_connection_attempts_total", .counter, "Connections tried.")
    static let sessions = Metric("saker_agent_sessions_total", .counter, "Logins that succeeded.")
    static let refusals = Metric("saker_agent_login_refusals_total", .counter, "Logins that the server refused.")
    static let deadLinks = Metric(
        "saker_agent_dead_links_total", .counter, "Connections given up because no answer came.")
    static let batches = Metric(
        "saker_agent_batches_uploaded_total", .counter,
        "Batches sent; a batch that is sent again after a lost connection counts again.")
    static let uploaded = Metric(
        "saker_agent_points_uploaded_total", .counter,
        "Points sent; a point that is sent again after a lost connection counts again.")
    static let uploadedBytes = Metric(
        "saker_agent_uploaded_bytes_total", .counter, "Payload of the batches sent, before TLS.")
    static let acknowledged = Metric(
        "saker_agent_points_acknowledged_total", .counter, "Points that the server has committed.")
    static let refused = Metric(
        "saker_agent_points_refused_total", .counter, "Points that the server refused because they break a rule.")

    private static let link = [
        linkState, offline, attempts, sessions, refusals, deadLinks, batches, uploaded, uploadedBytes, acknowledged,
        refused,
    ]

    // MARK: Cache

    static let cachePoints = Metric(
        "saker_agent_cache_points", .gauge, "Points that the server has not acknowledged.")
    static let unacknowledged = Metric(
        "saker_agent_cache_unacknowledged_points", .gauge, "Of these, points that were sent.")
    static let cacheBytes = Metric("saker_agent_cache_bytes", .gauge, "Bytes of the cache's files.")
    static let cacheLimit = Metric(
        "saker_agent_cache_limit_bytes", .gauge, "Most bytes of the cache's files; absent without a limit.")
    static let cacheTimeToFull = Metric(
        "saker_agent_cache_time_to_full_seconds", .gauge,
        "Time until the cache is full if the server takes no points, at the rate of the last ten minutes; absent while the rate is unknown."
    )
    static let cacheOldest = Metric(
        "saker_agent_cache_oldest_point_timestamp_seconds", .gauge,
        "GNSS time of the oldest point in the cache, seconds since 1970; absent when it is empty.")
    static let cacheInMemory = Metric(
        "saker_agent_cache_in_memory", .gauge, "1 when the disk refuses writes and points are in memory only.")
    static let memoryFallbacks = Metric(
        "saker_agent_cache_memory_fallbacks_total", .counter, "Times the cache went on in memory.")
    static let diskErrors = Metric(
        "saker_agent_cache_disk_errors_total", .counter, "Failed calls on the cache's files.")
    static let appendedBytes = Metric(
        "saker_agent_cache_appended_bytes_total", .counter, "Bytes of the records of all points put into the cache.")
    static let writtenBytes = Metric(
        "saker_agent_cache_written_bytes_total", .counter,
        "Everything the cache wrote: records, preallocation, headers, its ledger.")
    static let syncs = Metric("saker_agent_cache_syncs_total", .counter, "Times data was synchronised to the disk.")
    static let cleared = Metric("saker_agent_cache_cleared_points_total", .counter, "Points that a person cleared.")

    private static let cache = [
        cachePoints, unacknowledged, cacheBytes, cacheLimit, cacheTimeToFull, cacheOldest, cacheInMemory,
        memoryFallbacks, diskErrors, appendedBytes, writtenBytes, syncs, cleared,
    ]

    // MARK: Fences

    static let fences = Metric("saker_agent_fences", .gauge, "Local fences.")
    static let fencesInside = Metric(
        "saker_agent_fences_inside", .gauge, "Local fences that the present entity is inside of.")
    static let fencesRemembered = Metric(
        "saker_agent_fences_remembered", .gauge, "1 when all local fences are on the disk, 0 while they are not.")
    static let fixesJudged = Metric(
        "saker_agent_fence_fixes_judged_total", .counter, "Fixes that the local fences have judged.")
    static let fenceAlarms = Metric(
        "saker_agent_fence_alarms_total", .counter, labels: ["action"], "Alarms of local fences that were told.")
    static let fenceAlarmsWaiting = Metric(
        "saker_agent_fence_alarms_waiting", .gauge, "Alarms of local fences that are not on the disk yet.")
    static let fenceAlarmsDropped = Metric(
        "saker_agent_fence_alarms_dropped_total", .counter,
        "Alarms of local fences that were told and never written, because too many waited for the disk.")

    private static let fencing = [
        fences, fencesInside, fencesRemembered, fixesJudged, fenceAlarms, fenceAlarmsWaiting, fenceAlarmsDropped,
    ]

    // MARK: Server fences

    static let serverFences = Metric(
        "saker_agent_server_fences", .gauge,
        "Server fences that the agent has.")
    static let serverFencesInside = Metric(
        "saker_agent_server_fences_inside", .gauge,
        "Server fences that the present entity is inside of.")
    static let serverFencesNotJudged = Metric(
        "saker_agent_server_fences_not_judged", .gauge,
        "Server fences that the agent has and does not judge.")
    static let serverFencesOutdated = Metric(
        "saker_agent_server_fences_outdated", .gauge,
        "1 while the newest update of the server fences is not in use, because the agent could not use it.")
    static let serverFencesRemembered = Metric(
        "saker_agent_server_fences_remembered", .gauge,
        "1 when the server fences are on the disk, 0 while they are not.")
    static let serverFenceUpdatesRefused = Metric(
        "saker_agent_server_fence_updates_refused_total", .counter,
        "Updates of server fences that the agent could not use.")
    static let pointsJudged = Metric(
        "saker_agent_server_fence_points_judged_total", .counter,
        "Gathered points that the server fences have judged.")
    static let earlyAlarms = Metric(
        "saker_agent_early_alarms_total", .counter, labels: ["action"],
        "Alarms of server fences that the agent told before the server.")
    static let earlyAlarmsConfirmed = Metric(
        "saker_agent_early_alarms_confirmed_total", .counter,
        "Early alarms that the server told too.")
    static let earlyAlarmsUnconfirmed = Metric(
        "saker_agent_early_alarms_unconfirmed_total", .counter,
        "Early alarms that the server did not tell within ten minutes of a session after it had the point.")
    static let earlyAlarmsWaiting = Metric(
        "saker_agent_early_alarms_waiting", .gauge,
        "Early alarms that the server may still tell.")
    static let alarmReportsWaiting = Metric(
        "saker_agent_alarm_reports_waiting", .gauge,
        "Alarms of which the server is still to be told.")
    static let alarmsReported = Metric(
        "saker_agent_alarm_reports_total", .counter,
        "Alarms of which the agent told the server.")
    static let alarmReportsRefused = Metric(
        "saker_agent_alarm_reports_refused_total", .counter,
        "Alarms of which the server took no report.")
    static let alarmNotesLost = Metric(
        "saker_agent_alarm_notes_lost_total", .counter,
        "Notes on alarms that were forgotten because too many waited for the disk: hooks that have ended, reports to the server."
    )

    private static let serverFencing = [
        serverFences, serverFencesInside, serverFencesNotJudged, serverFencesOutdated, serverFencesRemembered,
        serverFenceUpdatesRefused, pointsJudged, earlyAlarms, earlyAlarmsConfirmed, earlyAlarmsUnconfirmed,
        earlyAlarmsWaiting, alarmReportsWaiting, alarmsReported, alarmReportsRefused, alarmNotesLost,
    ]
}
