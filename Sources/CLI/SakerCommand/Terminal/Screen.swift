import Terminal

/// Draws the same lines again and again: in place on a terminal, one below the other elsewhere.
///
/// It writes a frame at once and over the former one, without erasing it first, so nothing flickers.
struct Screen {
    private var drawnRows = 0
    private var isFirst = true

    mutating func draw(_ lines: [String], on size: (columns: Int, rows: Int)?) -> String {
        defer { isFirst = false }
        let lines = lines.map(\.printable)
        guard let size else {
            return (isFirst ? "" : "\n") + lines.map { $0 + "\n" }.joined()
        }
        // A line that wrapped would take two rows and the next frame would climb too little.
        let shown = lines.prefix(max(size.rows - 1, 1)).map { DisplayWidth.prefix($0, columns: size.columns - 1) }
        let climb = drawnRows > 0 ? "\u{1B}[\(drawnRows)A\r" : ""
        drawnRows = shown.count
        return climb + shown.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
    }
}
