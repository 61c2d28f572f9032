import Foundation
import ProgramTestKit
import Testing
import TrackStore

@testable import ServerRuntime

/// Commands of a new version beside a server of the former one.
@Suite struct FormerStoreTests {
    /// The number of the schema in the head of the file, see SQLite's file format.
    private func setSchema(_ number: Int, of path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 60)
        try file.write(contentsOf: Data([0, 0, 0, UInt8(number)]))
        try file.close()
    }

    @Test func aCommandLeavesTheStoreOfAnOldServerAlone() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/server.toml"
        try "[store]\npath = \"tracks.sqlite\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        let store = try ServerConfiguration.load(path: file).store
        try await StoreFactory.make(at: store.path).close()
        let known = try await StoreFactory.look(at: store, timeout: 60).get().knownSchema
        try setSchema(known - 1, of: store.path)
        let before = try Data(contentsOf: URL(fileURLWithPath: store.path))
        do {
            let lock = try ServeLock(store: store.path)
            defer { withExtendedLifetime(lock) {} }
            for isCheck in [false, true] {
                let error = await #expect(throws: ServerError.self) {
                    if isCheck {
                        _ = try await StoreFactory.open(store, mayBeServed: true)
                    } else {
                        _ = try await StoreFactory.openForCommand(store)
                    }
                }
                #expect(
                    error?.detail.contains("schema \(known - 1),") == true,
                    "\(String(describing: error))")
                #expect(error?.detail.contains("systemctl restart saker-server") == true)
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: store.path)) == before)
            #expect(StoreFactory.migrationCopies(of: store) == [])
            // A store of this version is for everybody.
            try setSchema(known, of: store.path)
            try await StoreFactory.openForCommand(store).store.close()
        }
    }
}
