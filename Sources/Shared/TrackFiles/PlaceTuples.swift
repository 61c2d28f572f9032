/// The places of KML's element `coordinates`: `longitude,latitude` or `longitude,latitude,height`, with white space between
/// them. White space beside a comma does not end a place: people write `4, 52`.
package struct PlaceTuples {
    package struct Place: Hashable, Sendable {
        package let longitude: String
        package let latitude: String
        package let height: String?
    }

    /// What is no place, for people.
    package struct Failure: Error, Hashable {
        package let reason: String
    }

    /// Of a place; no three numbers are longer.
    private static let mostBytes = 512

    private var current: [UInt8] = []
    private var hasSpace = false

    package init() {}

    /// The places that the text completes. A text may come in pieces, which are cut anywhere between two characters.
    package mutating func add(_ text: String) throws(Failure) -> [Place] {
        var places: [Place] = []
        let comma = UInt8(ascii: ",")
        for byte in text.utf8 {
            if byte == 0x20 || (0x09...0x0D).contains(byte) {
                hasSpace = !current.isEmpty
                continue
            }
            if hasSpace, byte != comma, current.last != comma { places.append(try finished()) }
            hasSpace = false
            current.append(byte)
            guard current.count <= Self.mostBytes else { throw failure("is longer than any place") }
        }
        return places
    }

    /// The last place; nil when nothing is left.
    package mutating func finish() throws(Failure) -> Place? {
        current.isEmpty ? nil : try finished()
    }

    private mutating func finished() throws(Failure) -> Place {
        defer { (current, hasSpace) = ([], false) }
        let numbers = current.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard numbers.count <= 3 else {
            throw failure("has \(numbers.count) numbers: white space stands between two places, and no comma")
        }
        guard numbers.count >= 2, numbers.prefix(2).allSatisfy({ FileNumber.value($0) != nil }),
            numbers.count < 3 || FileNumber.value(numbers[2]) != nil || FileNumber.isUnknown(numbers[2])
        else { throw failure("is no place: longitude,latitude are needed, two numbers") }
        return Place(
            longitude: numbers[0], latitude: numbers[1],
            height: numbers.count == 3 && !FileNumber.isUnknown(numbers[2]) ? numbers[2] : nil)
    }

    private func failure(_ what: String) -> Failure {
        Failure(reason: "\(TrackFileError.quoted(String(decoding: current, as: UTF8.self))) \(what)")
    }

    /// The place of `gx:coord`: numbers with blanks between them, or as in `coordinates`.
    package static func single(_ text: String) throws(Failure) -> Place {
        guard !text.contains(",") else {
            var tuples = PlaceTuples()
            let before = try tuples.add(text)
            guard before.isEmpty, let place = try tuples.finish() else {
                throw Failure(reason: "\(TrackFileError.quoted(text)) is no single place")
            }
            return place
        }
        var tuples = PlaceTuples()
        tuples.current = Array(
            text.utf8.split(whereSeparator: { $0 == 0x20 || (0x09...0x0D).contains($0) })
                .joined(separator: ",".utf8))
        guard !tuples.current.isEmpty else { throw Failure(reason: "its place is empty") }
        guard let place = try tuples.finish() else { throw Failure(reason: "its place is empty") }
        return place
    }
}
