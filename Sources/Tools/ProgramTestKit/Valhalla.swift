import Foundation
import Synchronization

/// A real Valhalla on a map of ``Recordings``, on a port of its own.
package final class Valhalla: Sendable {
    package static let version = "3.9.1"

    package let port: Int
    private let files: TemporaryDirectory
    private let service: String
    private let running = Mutex<Program?>(nil)

    package var url: String { "http://127.0.0.1:\(port)" }

    /// `map`: below the folder of recordings, such as `roads/andorra.osm.pbf`. Returns when the engine answers.
    package init(_ map: String) throws {
        let folder = try Self.programs()
        files = try TemporaryDirectory(named: "saker-valhalla")
        port = try freePort()
        service = folder + "/valhalla/bin/valhalla_service"
        let tiles = files.file("tiles")
        try FileManager.default.createDirectory(atPath: tiles, withIntermediateDirectories: true)
        let none = ["--mjolnir-tile-extract", "--mjolnir-traffic-extract", "--mjolnir-admin", "--mjolnir-timezone"]
        let written = try Program.run(
            "/usr/bin/env",
            ["python3", folder + "/valhalla/valhalla_build_config.py", "--mjolnir-tile-dir", tiles]
                + (none + ["--mjolnir-landmarks"]).flatMap { [$0, ""] }
                + [
                    "--mjolnir-max-cache-size", "67108864", "--httpd-service-listen", "tcp://127.0.0.1:\(port)",
                    "--httpd-service-drain-seconds", "1",
                ])
        try require(written.status == 0, "valhalla_build_config.py: \(written.all)")
        try Data(written.output.utf8).write(to: URL(fileURLWithPath: files.file("valhalla.json")))
        let built = try Program.run(
            folder + "/valhalla/bin/valhalla_build_tiles", ["-c", files.file("valhalla.json"), Recordings.path(map)])
        try require(built.status == 0, "valhalla_build_tiles: \(built.all.suffix(1000))")
        try start()
    }

    /// Starts the engine, or starts it again.
    package func start() throws {
        let program = try Program(service, [files.file("valhalla.json"), "1"])
        running.withLock { $0 = program }
        try waitUntil("Valhalla listens", within: 120) { isListening(port) }
    }

    package func signal(_ number: Int32) { running.withLock { $0?.signal(number) } }

    package func end() { running.withLock { _ = $0?.end(SIGKILL) } }

    deinit { end() }

    // MARK: The programs

    /// The folder of the programs: that which `SAKER_VALHALLA` names, or one in the build folder, which is filled from the
    /// package index at the first use.
    package static func programs() throws -> String {
        let given = ProcessInfo.processInfo.environment["SAKER_VALHALLA"]
        let folder = given ?? Recordings.repository + "/.build/valhalla-\(version)"
        if has(folder) { return folder }
        try require(given == nil, "there is no Valhalla in \(folder)")
        let files = try TemporaryDirectory(named: "saker-valhalla")
        try fetch(into: files.path)
        // Another process may have been faster.
        try? FileManager.default.moveItem(atPath: files.file("unpacked"), toPath: folder)
        try require(has(folder), "the package of Valhalla has no programs")
        return folder
    }

    private static func has(_ folder: String) -> Bool {
        ["valhalla_build_tiles", "valhalla_service"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: "\(folder)/valhalla/bin/\($0)")
        }
    }

    private static func fetch(into folder: String) throws {
        #if arch(arm64)
            let machine = "aarch64"
        #else
            let machine = "x86_64"
        #endif
        try Program.succeed(
            "timeout", "300", "python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
            "--timeout", "20", "--retries", "1", "--no-deps", "--only-binary=:all:", "--python-version", "3.12",
            "--platform", "manylinux_2_28_\(machine)", "--dest", folder, "pyvalhalla==\(version)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let wheel = try require(names.first { $0.hasSuffix(".whl") }, "pip fetched no wheel")
        try Program.succeed("python3", "-m", "zipfile", "-e", "\(folder)/\(wheel)", "\(folder)/unpacked")
        for name in ["valhalla_build_tiles", "valhalla_service"] {
            try Program.succeed("chmod", "+x", "\(folder)/unpacked/valhalla/bin/\(name)")
        }
    }
}
