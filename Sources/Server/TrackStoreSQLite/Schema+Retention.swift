extension Schema {
    /// For how many days a service keeps its points: null as the configuration says, 0 for ever.
    static let retention = """
        ALTER TABLE service ADD COLUMN retention INTEGER CHECK (retention >= 0);
        """
}
