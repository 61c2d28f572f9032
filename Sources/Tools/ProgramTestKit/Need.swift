import Foundation
import Synchronization
package import Testing

/// Something outside the repository that a test needs of its machine.
///
/// A machine that lacks it skips the test and prints why. In continuous integration, where the variable `CI` is set,
/// no test may be left out: there the test fails and says what is missing. This is the only way for a test to depend on
/// its machine.
package struct Need: Sendable {
    /// What it is, for the sentence that says that it is missing.
    package let name: String
    /// The Debian package that has it. Nil when no package can give it: a right, or a file beside the repository.
    package let package: String?
    /// A package index that cannot be reached must not stop continuous integration: there too the test is skipped.
    package let mayBeMissing: Bool
    private let search: Search

    /// `obstacle`: why the machine does not have it; nil when it does. It is asked once.
    package init(
        _ name: String, package: String? = nil, mayBeMissing: Bool = false,
        obstacle: @escaping @Sendable () -> String?
    ) {
        self.name = name
        self.package = package
        self.mayBeMissing = mayBeMissing
        search = Search(obstacle)
    }

    /// Why the machine does not have it; nil when it does.
    package var obstacle: String? { search.result() }

    private final class Search: Sendable {
        private let find: @Sendable () -> String?
        private let found = Mutex<String??>(nil)

        init(_ find: @escaping @Sendable () -> String?) { self.find = find }

        func result() -> String? {
            found.withLock { found in
                if let found { return found }
                let new = find()
                found = .some(new)
                return new
            }
        }
    }

    /// What becomes of a test.
    package enum Verdict: Hashable, Sendable {
        case runs
        /// For this reason.
        case isSkipped(String)
        /// For this reason, because nothing may be left out.
        case fails(String)
    }

    /// `environment`: of the test's process.
    package func verdict(in environment: [String: String]) -> Verdict {
        guard let obstacle else { return .runs }
        let remedy = package.map { "; install the Debian package \($0) (scripts/install-deps does)" } ?? ""
        let reason = "this machine lacks \(name): \(obstacle)\(remedy)"
        let isContinuous = environment["CI", default: ""] != ""
        return isContinuous && !mayBeMissing
            ? .fails(reason + ". CI is set, so no test may be left out") : .isSkipped(reason)
    }

    /// For a test that needs it for some of its arguments only: ends the running case unless the machine has it.
    package func demand() throws {
        switch verdict(in: ProcessInfo.processInfo.environment) {
        case .runs: break
        case .isSkipped(let reason): try Test.cancel(Comment(rawValue: reason))
        case .fails(let reason): throw Trouble(reason)
        }
    }
}

/// Lets a test, or every test of a suite, run only on a machine that has what it needs. ``Need`` says what happens
/// elsewhere.
package struct NeedsTrait: TestTrait, SuiteTrait {
    let needs: [Need]

    package var isRecursive: Bool { true }

    package func prepare(for test: Test) async throws {
        for need in needs {
            switch need.verdict(in: ProcessInfo.processInfo.environment) {
            case .runs: continue
            case .isSkipped(let reason): try await ConditionTrait.disabled(Comment(rawValue: reason)).prepare(for: test)
            case .fails(let reason): throw Trouble(reason)
            }
        }
    }
}

extension Trait where Self == NeedsTrait {
    /// `@Suite(.needs(.gpsd, .root))`
    package static func needs(_ needs: Need...) -> Self { Self(needs: needs) }
}

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
