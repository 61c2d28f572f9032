import SQLDatabase

/// The part of an entity that changes with its points: the row of the table `state`.
struct EntityState {
    /// The id of its newest chunk, or the number that its newest fence state got; 0 when it never had either.
    var version: Int64 = 0
    var fences: [UInt8]?

    init() {}

    /// A row of ``selection``.
    init(_ row: SQLRow) throws {
        version = try row[0]
        fences = try row[1]
    }

    static let selection = "SELECT version, fences FROM state WHERE entity = ?"

    private static let isLater =
        "time IS NULL OR " + replaces("excluded.time", "excluded.received", "time", "received")

    /// ``Recency`` in SQL, from the times and the times of receipt of a new point and of the latest one.
    static func replaces(
        _ time: String, _ received: String, _ latest: String, _ latestReceived: String, isStrict: Bool = false
    ) -> String {
        let (made, latestMade) = ("MIN(\(time), \(received))", "MIN(\(latest), \(latestReceived))")
        return "(\(made) > \(latestMade) OR \(made) = \(latestMade) AND \(time) \(isStrict ? ">" : ">=") \(latest))"
    }

    /// The latest point changes when the new one is as late; without a new one, and without new fences, they stay.
    ///
    /// The cell stays in any case: see ``PlaceCells``.
    static let update = """
        INSERT INTO state (entity, version, fences, time, latitude, longitude, received, payload, datum, service)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (entity) DO UPDATE SET
            version = excluded.version, fences = COALESCE(excluded.fences, fences),
            time = CASE WHEN \(isLater) THEN excluded.time ELSE time END,
            latitude = CASE WHEN \(isLater) THEN excluded.latitude ELSE latitude END,
            longitude = CASE WHEN \(isLater) THEN excluded.longitude ELSE longitude END,
            received = CASE WHEN \(isLater) THEN excluded.received ELSE received END,
            payload = CASE WHEN \(isLater) THEN excluded.payload ELSE payload END,
            datum = CASE WHEN \(isLater) THEN excluded.datum ELSE datum END
        """
}
