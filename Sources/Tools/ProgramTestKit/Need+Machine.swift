import Foundation

/// All that Saker's tests need of a machine.
extension Need {
    package static let all = [
        gpsd, python, systemdAnalyze, systemdSysusers, journalctl, zsh, fish, softHSM, pkcs11Tool, swtpm,
        tpmProvider, qrencode, zbarimg, strace, root,
        networkNamespaces, nftables,
        smallDisks, loopDevices, allRecordings, timeZones, valhalla,
    ]

    /// Only continuous integration that reaches PyPI, or a developer who does, has it.
    package static let valhalla = Need("Valhalla \(Valhalla.version)", mayBeMissing: true) {
        failure { _ = try Valhalla.programs() }
    }

    package static let timeZones = file("/usr/share/zoneinfo/Europe/Berlin", package: "tzdata")
    package static let gpsd = file(gpsdPath, package: "gpsd")
    package static let python = command(
        "python3", ["-c", "import ensurepip, sqlite3, ssl, venv"], package: "python3-venv")
    package static let systemdAnalyze = command("systemd-analyze", ["--version"], package: "systemd")
    package static let systemdSysusers = command("systemd-sysusers", ["--version"], package: "systemd")
    package static let journalctl = command("journalctl", ["--version"], package: "systemd")
    package static let pkcs11Tool = command(
        "pkcs11-tool", ["--list-slots", "--module", softHSMModule], package: "opensc")
    package static let zsh = command("zsh", ["-fc", "true"], package: "zsh")
    package static let fish = command("fish", ["--no-config", "--command", "true"], package: "fish")
    package static let softHSM = file(softHSMModule, package: "softhsm2")

    package static let swtpm = command("swtpm", ["--version"], package: "swtpm")
    /// The provider of OpenSSL, and the library through which it finds a TPM in software.
    package static let tpmProvider = Need("OpenSSL's provider tpm2", package: "tpm2-openssl") {
        failure {
            let folder = try Program.run("/usr/bin/env", ["openssl", "version", "-m"]).output
            let path = try require(folder.split(separator: "\"").dropFirst().first, folder) + "/tpm2.so"
            try require(FileManager.default.fileExists(atPath: String(path)), "there is no \(path)")
        }
    }
    package static let qrencode = command("qrencode", ["--version"], package: "qrencode")
    package static let strace = command("strace", ["-V"], package: "strace")
    package static let zbarimg = command("zbarimg", ["--version"], package: "zbar-tools")

    /// SoftHSM's PKCS#11 module.
    package static let softHSMModule = "/usr/lib/softhsm/libsofthsm2.so"

    package static let root = Need("the rights of root") { geteuid() == 0 ? nil : "the user is \(geteuid())" }

    package static let networkNamespaces = Need("network namespaces and TUN devices", package: "iproute2") {
        NetworkNamespace.obstacle
    }

    package static let nftables = command("nft", ["--version"], package: "nftables")

    /// A tmpfs of a test's own.
    package static let smallDisks = Need("the right to mount a tmpfs") {
        failure {
            let directory = try TemporaryDirectory()
            _ = try SmallDisk(over: directory.path, megabytes: 1)
        }
    }

    /// An ext4 on an image file.
    package static let loopDevices = Need("an ext4 on a loop device", package: "e2fsprogs") {
        failure {
            let directory = try TemporaryDirectory()
            let (image, place) = (directory.file("image"), directory.file("mounted"))
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            try Program.succeed("truncate", "--size", "24M", image)
            try Program.succeed("mkfs.ext4", "-q", "-F", image)
            try Program.succeed("mount", "-o", "loop", image, place)
            umount2(place, Int32(MNT_DETACH))
        }
    }

    /// Files of ``Recordings``, named as there.
    package static func recordings(_ names: [String]) -> Need {
        Need("recorded input beside the repository") {
            names.lazy.map(Recordings.path).first { !FileManager.default.fileExists(atPath: $0) }
                .map { "there is no \($0)" }
        }
    }

    package static let allRecordings = recordings(
        Recordings.receivers.map { "receivers/" + $0 } + [Recordings.theHague, Recordings.beijing])

    package static func file(_ path: String, package: String) -> Need {
        Need((path as NSString).lastPathComponent, package: package) {
            FileManager.default.fileExists(atPath: path) ? nil : "there is no \(path)"
        }
    }

    /// A program in the search path that ends well with these arguments.
    package static func command(_ name: String, _ arguments: [String], package: String) -> Need {
        Need(name, package: package) {
            failure {
                let done = try Program.run("/usr/bin/env", [name] + arguments)
                try require(done.status == 0, "\(name) ends with \(done.status): \(done.all)")
            }
        }
    }

    private static func failure(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }
}

/// Debian's gpsd, which is in no ordinary user's search path.
package let gpsdPath = "/usr/sbin/gpsd"
