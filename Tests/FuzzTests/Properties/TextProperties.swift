import DriveSimulation
import Foundation
import TrackFiles

@testable import FenceCommands
@testable import saker_sim

/// Times as people type them.
enum TimeProperties {
    @Sendable static func check(_ input: [UInt8]) throws {
        guard let text = String(validating: input, as: UTF8.self) else { return }
        let now: Int64 = 1_772_670_000_000
        let time = TimeExpression(text, now: now)
        // A mark that combines with the space before it would go with it.
        guard input.allSatisfy({ $0 < 0x80 }) else { return }
        try require(time == TimeExpression(" \(text)\t", now: now), "white space changes the time")
    }
}

/// Files of points, and routes that are given to the simulation.
enum RouteProperties {
    @Sendable static func check(_ input: [UInt8]) throws {
        do {
            var reader = try TrackFileReader(ByteSource(bytes: input))
            while let point = try reader.next() {
                try require(!point.place.isEmpty, "a point without a place in the file")
            }
        } catch is TrackFileError {}
        let path = NSTemporaryDirectory() + "saker-route-\(ProcessInfo.processInfo.processIdentifier)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(input).write(to: URL(filePath: path))
        do {
            let route = try RouteFile.read(path, isClosed: false)
            try require(route.length >= 0 && route.length.isFinite, "a route \(route.length) m long")
        } catch let error as SimulationError {
            try require(error.description.contains(path), "an error that does not name the file")
        }
    }
}
