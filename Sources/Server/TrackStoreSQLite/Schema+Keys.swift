import TrackStore

extension Schema {
    /// What a key may be used for. The keys of former versions go on doing what they did.
    static let keyRights = """
        ALTER TABLE access_key ADD COLUMN scopes INTEGER NOT NULL DEFAULT \(KeyScopes.former.rawValue);
        ALTER TABLE access_key ADD COLUMN ends INTEGER;
        ALTER TABLE access_key ADD COLUMN addresses TEXT;
        ALTER TABLE access_key ADD COLUMN referers TEXT;
        """
}
