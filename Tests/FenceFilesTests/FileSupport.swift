import Geodesy
import Geofencing
import JSON
import TrackFiles
import TrackModel

@testable import FenceFiles

func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds) }

func degrees(_ pairs: [(Double, Double)]) -> [Degrees] { pairs.map { Degrees(latitude: $0.0, longitude: $0.1) } }

func json(_ text: String) throws -> JSONValue { try JSONReader.value(of: Array(text.utf8)) }

func source(_ text: String) -> ByteSource { ByteSource(bytes: Array(text.utf8)) }

func all(_ reader: some FeatureReader) throws -> [FileFeature] {
    var reader = reader
    var outcomes: [FileFeature] = []
    while let outcome = try reader.next() { outcomes.append(outcome) }
    return outcomes
}

extension FileFeature {
    var feature: FenceFeature? {
        if case .feature(let feature) = self { feature } else { nil }
    }

    /// For a comparison in short.
    var reason: String {
        if case .refused(let refused) = self { refused.description } else { "taken" }
    }
}

/// What the file as a whole is refused for.
func problem(_ body: () throws -> some Any) -> String {
    do {
        return "no problem: \(try body())"
    } catch {
        return "\(error)"
    }
}

func square(_ latitude: Double, _ longitude: Double, _ size: Double = 0.01) -> [Degrees] {
    degrees([
        (latitude, longitude), (latitude, longitude + size), (latitude + size, longitude + size),
        (latitude + size, longitude),
    ])
}

func fence(_ id: Int32 = 1, _ definition: FenceDefinition) throws -> Fence {
    try Fence(id: id, definition, at: time(0))
}
