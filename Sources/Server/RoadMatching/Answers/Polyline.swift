internal import Geodesy

/// Google's encoding of a line with six decimals, latitude first, as the road engine writes shapes.
enum Polyline {
    /// Vertices beyond which a line is not read.
    static let most = 1 << 20

    /// Nil for a text that is none, or that leaves the earth.
    static func places(_ text: String) -> [Degrees]? {
        var bytes = text.utf8.makeIterator()
        var places: [Degrees] = []
        var (latitude, longitude): (Int64, Int64) = (0, 0)
        while let first = bytes.next() {
            guard let north = number(first, &bytes), let next = bytes.next(), let east = number(next, &bytes),
                places.count < most
            else { return nil }
            latitude += north
            longitude += east
            guard latitude.magnitude <= 90_000_000, longitude.magnitude <= 180_000_000 else { return nil }
            places.append(Degrees(latitude: Double(latitude) / 1e6, longitude: Double(longitude) / 1e6))
        }
        return places
    }

    /// A number of five bits a character, the lowest first, its sign in the lowest bit.
    private static func number(_ first: UInt8, _ bytes: inout String.UTF8View.Iterator) -> Int64? {
        var (value, shift): (Int64, Int64) = (0, 0)
        var character = first
        while true {
            guard (63...126).contains(character), shift <= 30 else { return nil }
            let bits = Int64(character - 63)
            value |= (bits & 31) << shift
            if bits < 32 { return value & 1 == 0 ? value >> 1 : ~(value >> 1) }
            shift += 5
            guard let next = bytes.next() else { return nil }
            character = next
        }
    }
}
