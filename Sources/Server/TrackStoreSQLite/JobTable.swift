import SQLDatabase
import TrackModel

/// A table of jobs that the workers of servers take one after the other: exports, and frequent routes.
///
/// A worker claims a job for some time, and prolongs its claim while it works. `modified` is when a job was claimed, when it ended, or
/// since when it waits. `claimed_through` is NULL for a job that nobody has tried since it began to wait, and a time in the past for
/// one that was given back.
struct JobTable: Sendable {
    let name: String

    static let exports = JobTable(name: "export_job")
    static let routes = JobTable(name: "route_job")

    /// Whether no job waits and none is being done. It needs no right to write.
    func isIdle(_ database: any SQLConnection) throws -> Bool {
        let statement = try database.statement("SELECT EXISTS (SELECT 1 FROM \(name) WHERE state < 2)")
        return try !(statement.value(Bool.self) ?? false)
    }

    /// Gives a worker the job that has been due for longest; nil when there is none.
    ///
    /// A job is due when it begins to wait, or when its service last had a worker, whichever is later. So the services share the workers,
    /// however many jobs each has, and no job waits for more than one job of each other service.
    func claim(
        by worker: Int64, at now: Timestamp, through end: Timestamp, _ database: any SQLConnection
    ) throws -> Int64? {
        try database.value(
            Int64.self,
            """
            UPDATE \(name) SET modified = ?1, state = 1, worker = ?2, claimed_through = ?3
            WHERE id = (
                SELECT j.id FROM \(name) j LEFT JOIN (
                    SELECT service, MAX(modified) AS last FROM \(name)
                    WHERE state > 0 OR claimed_through IS NOT NULL GROUP BY service
                ) s ON s.service = j.service
                WHERE j.state < 2 AND (j.claimed_through IS NULL OR j.claimed_through < ?1 OR j.worker = ?2)
                ORDER BY MAX(j.modified, COALESCE(s.last, j.modified)), j.modified, j.id LIMIT 1)
            RETURNING id
            """, [now.milliseconds, worker, end.milliseconds])
    }

    /// Prolongs a claim. False: the worker does not have the job any more.
    func keep(_ job: Int64, by worker: Int64, through end: Timestamp, _ database: any SQLConnection) throws -> Bool {
        try database.execute(
            "UPDATE \(name) SET claimed_through = ? WHERE id = ? AND worker = ?",
            [end.milliseconds, job, worker])
        return database.changes > 0
    }

    /// Ends a claim: the job is done, or waits again. `results`: the columns that the end sets, with their values. False: the worker does
    /// not have the job any more.
    func settle(
        _ job: Int64, by worker: Int64, isDone: Bool, at now: Timestamp,
        results: [(column: String, value: (any SQLConvertible)?)], _ database: any SQLConnection
    ) throws -> Bool {
        let columns = results.map { "\($0.column) = ?, " }.joined()
        try database.execute(
            """
            UPDATE \(name) SET \(columns)state = ?, modified = ?, worker = NULL, claimed_through = 0
            WHERE id = ? AND worker = ?
            """,
            SQLParameters(results.map(\.value)) + [isDone ? 2 : 0, now.milliseconds, job, worker])
        return database.changes > 0
    }

    /// Returns how many were removed.
    func remove(doneBefore: Timestamp, _ database: any SQLConnection) throws -> Int {
        try database.execute(
            "DELETE FROM \(name) WHERE state = 2 AND modified < ?", [doneBefore.milliseconds])
        return database.changes
    }
}
