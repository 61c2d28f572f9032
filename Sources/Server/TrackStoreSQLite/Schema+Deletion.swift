extension Schema {
    /// How far the deletion of a service is: null for a service in use, 1 while rows of it are left, 2 when none is. The row
    /// itself stays without content, so that nobody gets its number again.
    static let deletion = """
        ALTER TABLE service ADD COLUMN deletion INTEGER CHECK (deletion IN (1, 2));
        """
}
