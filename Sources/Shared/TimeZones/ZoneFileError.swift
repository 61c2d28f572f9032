/// Why bytes are no time zone.
package struct ZoneFileError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
