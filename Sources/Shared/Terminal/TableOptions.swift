import ArgumentParser

/// How wide a table may be; an option of both command lines.
package struct TableOptions: ParsableArguments {
    @Flag(name: .long, help: "Show all columns, a line for each row, however narrow the terminal is.")
    package var wide = false

    package init() {}

    /// Columns of the terminal; nil: no bound.
    package var width: Int? { wide ? nil : TerminalSize.columns }
}
