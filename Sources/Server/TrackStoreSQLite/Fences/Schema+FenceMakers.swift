extension Schema {
    /// The vehicle that made a fence; NULL: the operator did. What was made before this column counts as the operator's.
    static let fenceMakers = """
        ALTER TABLE fence ADD COLUMN maker TEXT;
        """
}
