import Foundation
import ProgramTestKit
import Testing
import TrackModel

@testable import ServerRuntime

/// When the copies from before migrations go.
@Suite struct CopyCleanupTests {
    private static let day: Int64 = 86_400_000

    /// `days`: how far the clock is from the moment at which the copy was made.
    @Test(arguments: [(29, true, true), (31, true, false), (3650, false, true), (3650, true, false), (0, true, true)])
    func aCopyGoesByATimeThatCanBeBelieved(days: Int64, isClockKept: Bool, stays: Bool) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/server.toml"
        try "[store]\npath = \"tracks.sqlite\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        let store = try ServerConfiguration.load(path: file).store
        let copy = store.path + ".before-v18"
        try Data("copy".utf8).write(to: URL(fileURLWithPath: copy))
        let made = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let lines = RecordedLines()
        let time = TrustedTime(
            newest: made, clock: { made.adding(milliseconds: days * Self.day) },
            monotonic: { MonotonicTime(milliseconds: 0) }, isKept: { isClockKept })
        CopyCleanup(store: store, time: time, logger: lines.logger).round()
        #expect(FileManager.default.fileExists(atPath: copy) == stays)
        #expect(lines.texts.isEmpty == stays)
    }

    @Test func withoutAnyTimeNothingGoes() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/server.toml"
        try "[store]\npath = \"tracks.sqlite\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        let store = try ServerConfiguration.load(path: file).store
        try Data("copy".utf8).write(to: URL(fileURLWithPath: store.path + ".before-v18"))
        let time = TrustedTime(
            newest: nil, clock: { Timestamp(milliseconds: 9_000_000_000_000) },
            monotonic: { MonotonicTime(milliseconds: 0) }, isKept: { false })
        CopyCleanup(store: store, time: time, logger: RecordedLines().logger).round()
        #expect(StoreFactory.migrationCopies(of: store).count == 1)
    }
}
