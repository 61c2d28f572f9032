import ArgumentParser
import FenceFiles
import Foundation
import Geodesy
import Geofencing
import TrackFiles
import TrackModel

/// Real fences and real drives for the benches of fences.
enum FenceFile {
    /// The polygons of a GeoJSON file or a GeoPackage. What is no fence is passed over and counted on standard error.
    static func shapes(_ path: String) throws -> [Shape] {
        var features = try FileFeatures(ByteSource(path: path))
        var (shapes, refused) = ([Shape](), 0)
        while let feature = try features.next() {
            guard case .feature(let feature) = feature else {
                refused += 1
                continue
            }
            for case .polygon(let parts) in feature.geometry.parts {
                do throws(ShapeError) {
                    shapes.append(try ShapeDraft(.polygon(parts)).shape())
                } catch {
                    refused += 1
                }
            }
        }
        if refused > 0 {
            FileHandle.standardError.write(Data("saker-bench: \(path): \(refused) features are no fences\n".utf8))
        }
        guard !shapes.isEmpty else { throw ValidationError("\(path) has no polygon") }
        return shapes
    }

    /// The places of a GPX file or of a PLT file (Geolife), 5 s apart.
    static func drive(_ path: String) throws -> [FencePoint] {
        let places: [Coordinate]
        if path.hasSuffix(".plt") {
            places = try String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isNewline).dropFirst(6)
                .compactMap { line in
                    let fields = line.split(separator: ",").prefix(2).compactMap { Double($0) }
                    return fields.count == 2 ? Coordinate(latitude: fields[0], longitude: fields[1]) : nil
                }
        } else {
            places = try RealTrack.gpx(path).map(\.fix.coordinate)
        }
        guard !places.isEmpty else { throw ValidationError("\(path) has no place") }
        let start = Timestamp(seconds: 1_795_000_000)
        return places.enumerated().map { index, place in
            FencePoint(time: start.adding(milliseconds: Int64(index) * 5000), place: place, accuracy: 50)
        }
    }
}
