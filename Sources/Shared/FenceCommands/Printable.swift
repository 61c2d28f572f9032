internal import Terminal

extension String {
    /// Without characters that control a terminal: see ``TerminalText``.
    var printable: String { TerminalText.safe(self) }
}
