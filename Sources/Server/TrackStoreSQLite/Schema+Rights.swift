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
