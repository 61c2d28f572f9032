import Foundation
import ProgramTestKit
import StoreRecords
import Testing

@testable import ServerRuntime

@Suite("The key for signing keys")
struct SecretProtectionTests {
    private static let digits = String(repeating: "0123456789abcdef", count: 4)

    @Test func aKeyFileHoldsSixtyFourDigits() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store.key"
        #expect(SecretProtection(keyFile: nil).problem == nil)
        #expect(SecretProtection(keyFile: path).problem?.contains(path) == true)
        for (text, isKey) in [
            (Self.digits, true), (Self.digits.uppercased() + "\n", true), (" \n" + Self.digits + " ", true),
            (String(Self.digits.dropLast()), false), (Self.digits + "0", false), ("", false),
            (String(Self.digits.dropLast()) + "g", false), (String(Self.digits.dropLast(2)) + "é", false),
        ] {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let problem = SecretProtection(keyFile: path).problem
            #expect((problem == nil) == isKey, "\(text)")
            if let problem { #expect(problem.contains("openssl rand -hex 32")) }
        }
    }
}
