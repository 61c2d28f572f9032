extension Schema {
    /// Which pushes go first: an entity's messages from the operator do not wait behind those that vehicles cause.
    static let pushOrder = """
        ALTER TABLE push ADD COLUMN is_first INTEGER NOT NULL DEFAULT 0 CHECK (is_first IN (0, 1));
        UPDATE push SET is_first = 1 WHERE message IN (SELECT id FROM push_message WHERE type BETWEEN 65 AND 255);
        CREATE INDEX push_first ON push (entity, message) WHERE acknowledged IS NULL AND is_first = 1;
        """
}
