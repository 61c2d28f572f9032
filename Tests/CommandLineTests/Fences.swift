import Foundation
import ProgramTestKit

/// Files for the tests of `saker fence`.
struct FenceFolder {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    func file(_ name: String, _ text: String) throws -> String {
        let path = directory.file(name)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// In at 15.3 s, out at 34.7 s: a circle of 100 m around 40, 116.
    func drive(_ name: String = "drive.csv") throws -> String {
        let rows = [115.995, 115.9975, 116.0, 116.0, 116.0025, 116.005].enumerated().map {
            "2026-03-05T08:20:\($0.offset)0Z,40,\($0.element),20,5\n"
        }
        return try file(name, "time,lat,lon,speed,accuracy\n" + rows.joined())
    }

    static func point(_ id: String, _ properties: String = "", at longitude: Double = 116) -> String {
        """
        {"type":"Feature","id":\(id),"geometry":{"type":"Point","coordinates":[\(longitude),40]},"properties":{\(properties)}}
        """
    }

    func collection(_ name: String, _ features: String...) throws -> String {
        try file(name, "{\"type\":\"FeatureCollection\",\"features\":[\(features.joined(separator: ","))]}")
    }
}
