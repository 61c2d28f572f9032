import Glibc
import Testing

@testable import Systemd

@Suite struct NotifierTests {
    @Test(arguments: [false, true])
    func everyStateIsToldToThePathOrAbstractName(abstract: Bool) throws {
        let manager = try DatagramListener(abstract: abstract)
        let notifier = Notifier(environment: ["NOTIFY_SOCKET": manager.path])
        #expect(notifier.isActive)
        #expect(notifier.ready(status: "online as truck-12"))
        #expect(manager.text() == "READY=1\nSTATUS=online as truck-12")
        #expect(notifier.status("gathering"))
        #expect(manager.text() == "STATUS=gathering")
        #expect(notifier.stopping())
        #expect(manager.text() == "STOPPING=1")
        #expect(notifier.watchdog())
        #expect(manager.text() == "WATCHDOG=1")
        #expect(notifier.extendTimeout(by: .milliseconds(1500)))
        #expect(manager.text() == "EXTEND_TIMEOUT_USEC=1500000")
    }

    @Test func aReloadCarriesTheMonotonicTime() throws {
        let manager = try DatagramListener()
        func now() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
        }
        let before = now()
        #expect(Notifier(environment: ["NOTIFY_SOCKET": manager.path]).reloading())
        let lines = try #require(manager.text()).split(separator: "\n")
        #expect(lines.count == 2 && lines[0] == "RELOADING=1")
        let told = try #require(Int(lines[1].dropFirst("MONOTONIC_USEC=".count)))
        #expect((before...now()).contains(told))
    }

    @Test func aStatusCannotSmuggleAnotherState() throws {
        let manager = try DatagramListener()
        Notifier(environment: ["NOTIFY_SOCKET": manager.path]).status("a\nSTOPPING=1\u{7}b")
        #expect(manager.text() == "STATUS=a STOPPING=1 b")
    }

    @Test(arguments: [nil, "", "relative", "/", "@", "vsock:2:1", "/" + String(repeating: "x", count: 108), "/no/such"])
    func withoutAUsableSocketNothingHappens(path: String?) {
        let notifier = Notifier(environment: path.map { ["NOTIFY_SOCKET": $0] } ?? [:])
        #expect(!notifier.ready())
        #expect(!notifier.watchdog())
    }

    @Test func aManagerThatDoesNotReadNeverMakesTheProgramWait() throws {
        let manager = try DatagramListener()
        let notifier = Notifier(environment: ["NOTIFY_SOCKET": manager.path])
        // The kernel queues some datagrams, then refuses; were the socket a waiting one, this would never end.
        var sent = 0
        while notifier.watchdog() { sent += 1 }
        #expect(sent > 0)
        while manager.take() != nil {}
        #expect(notifier.ready())
    }

    @Test func theWatchdogIsForTheProcessItNames() {
        func timeout(_ usec: String?, _ pid: String? = nil) -> Duration? {
            var environment: [String: String] = [:]
            environment["WATCHDOG_USEC"] = usec
            environment["WATCHDOG_PID"] = pid
            return Notifier(environment: environment, pid: 42).watchdogTimeout
        }
        #expect(timeout("30000000") == .seconds(30))
        #expect(timeout("30000000", "42") == .seconds(30))
        #expect(timeout("30000000", "43") == nil)
        #expect(timeout("30000000", "x") == nil)
        #expect(timeout(nil) == nil)
        #expect(timeout("0") == nil)
        #expect(timeout("-1") == nil)
        #expect(timeout("99999999999999999999") == nil)
    }

    @Test func takingTheEnvironmentLeavesNothingToChildren() {
        setenv("WATCHDOG_USEC", "5000000", 1)
        setenv("WATCHDOG_PID", "\(getpid())", 1)
        #expect(Notifier.takingEnvironment().watchdogTimeout == .seconds(5))
        #expect(getenv("WATCHDOG_USEC") == nil)
        #expect(getenv("WATCHDOG_PID") == nil)
        #expect(Notifier.takingEnvironment().watchdogTimeout == nil)
    }
}
