extension Schema {
    /// When a login of a device was refused last because two computers are it.
    static let clones = """
        ALTER TABLE device ADD COLUMN cloned INTEGER;
        """
}
