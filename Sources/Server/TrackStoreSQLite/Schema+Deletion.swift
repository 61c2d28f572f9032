extension Schema {
    /// How far the deletion of a service is: null for a service in use, 1 while rows of it are left, 2 when none is. The row
    /// itself stays without content, so that nobody gets its number again. The indexes find what is left of a service without reading whole
    /// tables.
    static let deletion = """
        ALTER TABLE service ADD COLUMN deletion INTEGER CHECK (deletion IN (1, 2));
        CREATE INDEX push_message_of_service ON push_message (service);
        CREATE INDEX token_of_service ON token (service);
        CREATE INDEX fence_news_of_service ON fence_news (service);
        """
}
