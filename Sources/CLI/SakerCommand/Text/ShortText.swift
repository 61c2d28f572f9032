extension String {
    /// Short enough for a message.
    var shortened: String { count <= 60 ? self : String(prefix(60)) + "…" }
}
