import Foundation

/// Receivers and tracks that other people recorded. They are in the folder `shared/data` beside the repository, and no
/// part of it.
package enum Recordings {
    package static let folder =
        URL(fileURLWithPath: repository).deletingLastPathComponent().appendingPathComponent("shared/data").path

    /// The folder of this repository.
    package static let repository: String = {
        var folder = URL(fileURLWithPath: #filePath)
        repeat {
            folder.deleteLastPathComponent()
        } while folder.path != "/" && !FileManager.default.fileExists(atPath: folder.path + "/Package.swift")
        return folder.path
    }()

    /// Every recorded receiver, as named in ``path(_:)``.
    package static let receivers = ["bt451.log", "haicom-305N.log", "ublox-glo.log", "sirf2.log", "beidou-bd.log"]

    /// A drive around The Hague, one point a second.
    package static let theHague = "tracks/gpsbabel-sbn-thehague.gpx"
    /// A trip in Beijing.
    package static let beijing = "tracks/geolife-007-beijing-20081028.plt"

    /// `name`: below the folder, such as `receivers/sirf2.log`.
    package static func path(_ name: String) -> String { folder + "/" + name }

    /// The bytes of one of the ``receivers``, without the comments of the people who keep the collection.
    package static func receiver(_ name: String) throws -> [UInt8] {
        let path = path("receivers/" + name)
        let bytes = try require(FileManager.default.contents(atPath: path).map(Array.init), "there is no \(path)")
        let begin = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).prefix { $0.first == 0x23 }
            .reduce(0) { $0 + $1.count + 1 }
        return Array(bytes.dropFirst(begin))
    }
}
