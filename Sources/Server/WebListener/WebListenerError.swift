/// Why a port cannot be listened on: a sentence that says what to do.
package struct WebListenerError: Error, Equatable, CustomStringConvertible {
    package let detail: String

    package init(_ detail: String) {
        self.detail = detail
    }

    package var description: String { detail }
}
