import Terminal

extension String {
    /// Replaces characters that control a terminal or its writing direction by `?`.
    ///
    /// Other people choose names. A name must not hide or rewrite the text beside it.
    var printable: String { TerminalText.safe(self) }
}
