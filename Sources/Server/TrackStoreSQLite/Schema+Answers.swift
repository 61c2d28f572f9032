extension Schema {
    /// How the Web API answers the clients of a service: null as the configuration says.
    static let answers = """
        ALTER TABLE service ADD COLUMN vertexes INTEGER CHECK (vertexes IN (0, 1));
        ALTER TABLE service ADD COLUMN unknown_entity INTEGER CHECK (unknown_entity IN (0, 3003));
        """
}
