import ProgramTestKit
import Synchronization
import Systemd
import Testing
import TrackModel

@testable import ServerRuntime

@Suite struct StartPatienceTests {
    /// A copy whose steps are slow, by the clock of the test.
    @Test func systemdIsAskedForTimeWhileTheStartGetsOnAndNoLonger() throws {
        let directory = try TemporaryDirectory()
        let listener = try NotifyListener(path: directory.path + "/notify")
        let clocks = DeskClocks()
        let patience = StartPatience(
            notifier: Notifier(environment: ["NOTIFY_SOCKET": listener.path]), clock: { clocks.monotonic })
        func asked() -> Int {
            listener.received.split(separator: "\n").count { $0 == "EXTEND_TIMEOUT_USEC=300000000" }
        }
        #expect(asked() == 0)
        // A step a second, for a quarter of an hour.
        for _ in 0..<900 {
            patience.progress()
            clocks.pass(1)
            // The kernel keeps only a few datagrams that nobody has read.
            _ = listener.received
        }
        #expect(asked() == 90)
        // Each request reaches further than the next step, however slow it is.
        #expect(StartPatience.interval < 300_000)
        clocks.pass(600)
        #expect(asked() == 90)
        patience.progress()
        #expect(asked() == 91)
    }
}
