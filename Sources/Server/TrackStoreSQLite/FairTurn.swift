/// Whose job a worker has next: that which has been due for longest.
///
/// A job is due when it begins to wait, or when its service had its last turn, whichever is later. So services take turns, however many
/// jobs each has, and none waits for more than one job of each other one.
enum FairTurn {
    /// A query for the number of the job; nil when there is none. ?1: now; ?2: the worker.
    ///
    /// `modified` is when a job was claimed, when it ended, or since when it waits. A job that waits and was tried has a claim that has
    /// ended, and one that was never tried has none.
    static func next(of table: String) -> String {
        """
        SELECT j.id FROM \(table) j LEFT JOIN (
            SELECT service, MAX(modified) AS turn FROM \(table)
            WHERE state > 0 OR claimed_through IS NOT NULL GROUP BY service
        ) s ON s.service = j.service
        WHERE j.state < 2 AND (j.claimed_through IS NULL OR j.claimed_through < ?1 OR j.worker = ?2)
        ORDER BY MAX(j.modified, COALESCE(s.turn, j.modified)), j.modified, j.id LIMIT 1
        """
    }
}
