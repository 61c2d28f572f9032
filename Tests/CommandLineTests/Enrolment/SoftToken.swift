import Foundation
import Glibc
import ProgramTestKit

/// A PKCS#11 token in files, with one key and its PIN in a file.
struct SoftToken {
    static let uri = "pkcs11:token=box;object=key;type=private"
    static let pin = "735418"

    /// For programs that use the token.
    let environment: [String: String]
    let pinFile: String

    init(in directory: String) throws {
        let tokens = directory + "/tokens"
        try FileManager.default.createDirectory(atPath: tokens, withIntermediateDirectories: true)
        let configuration = directory + "/softhsm2.conf"
        try "directories.tokendir = \(tokens)\nobjectstore.backend = file\n"
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        environment = ["SOFTHSM2_CONF": configuration]
        pinFile = directory + "/pin"
        try write(pin: Self.pin)
        chmod(pinFile, 0o600)
        for command in [
            ["softhsm2-util", "--init-token", "--free", "--label", "box", "--so-pin", "4711", "--pin", Self.pin],
            [
                "pkcs11-tool", "--module", Need.softHSMModule, "--login", "--pin", Self.pin, "--token-label", "box",
                "--keypairgen", "--key-type", "EC:prime256v1", "--label", "key", "--id", "01",
            ],
        ] {
            let done = try Program.run("/usr/bin/env", command, environment: environment)
            try require(done.status == 0, done.all)
        }
    }

    func write(pin: String) throws { try (pin + "\n").write(toFile: pinFile, atomically: true, encoding: .utf8) }

    /// Of `saker enroll`.
    var options: [String] {
        ["--key", Self.uri, "--key-module", Need.softHSMModule, "--key-pin-file", pinFile]
    }
}
