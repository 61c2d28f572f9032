extension StringProtocol {
    /// The text with control characters as `?`, cut after `limit` characters: for details shown to people.
    func printable(limit: Int) -> String {
        let safe = unicodeScalars.prefix(limit).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
                Character("?")
            default: Character(scalar)
            }
        }
        return unicodeScalars.count > limit ? String(safe) + "…" : String(safe)
    }
}
