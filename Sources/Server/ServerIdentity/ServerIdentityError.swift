/// Why a certificate or key cannot be used. Names the file, never its content.
package struct ServerIdentityError: Error, Equatable, CustomStringConvertible {
    package let detail: String

    package init(_ detail: String) {
        self.detail = detail
    }

    package var description: String { detail }
}
