extension Schema {
    /// Whether vehicles of a token become entities with a past by themselves, and whether a device proves its key at each renewal.
    static let proofs = """
        ALTER TABLE token ADD COLUMN takes_past INTEGER NOT NULL DEFAULT 0 CHECK (takes_past IN (0, 1));
        ALTER TABLE device ADD COLUMN proves INTEGER NOT NULL DEFAULT 0 CHECK (proves IN (0, 1));
        """
}
