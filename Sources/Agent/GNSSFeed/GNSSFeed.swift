package import AgentLogic
internal import Synchronization

/// Delivers gpsd's reports from a thread of its own. It handles every way in which gpsd and its receivers come and go.
///
/// The thread sleeps until gpsd sends something. It wakes by itself only to connect again, to tell of silence, and to
/// ask gpsd for a sign of life after half a minute without a byte.
package final class GNSSFeed: Sendable {
    private let configuration: FeedConfiguration
    private let signal: WakeSignal
    private let deliver: @Sendable (FeedEvent) -> Void
    private let isStarted = Atomic<Bool>(false)
    private let shared = SharedCounters()

    /// The feed calls `deliver` on its own thread, one call at a time. `deliver` should only pass the event on.
    package init(
        configuration: FeedConfiguration, deliver: @escaping @Sendable (FeedEvent) -> Void
    ) throws(GNSSFeedError) {
        self.configuration = configuration
        self.deliver = deliver
        signal = try WakeSignal()
    }

    deinit {
        signal.stop()
    }

    /// Starts the thread; a second call does nothing.
    package func start() throws(GNSSFeedError) {
        guard !isStarted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let (configuration, signal, shared, deliver) = (configuration, signal, shared, deliver)
        try startThread {
            do throws(GNSSFeedError) {
                var loop = try FeedLoop(configuration: configuration, signal: signal, shared: shared, deliver: deliver)
                loop.run()
            } catch {
                deliver(.state(.unreachable(reason: error.detail)))
            }
            deliver(.state(.stopped))
        }
    }

    /// Ends the wait for the next attempt, so that the feed connects at once. Call it when gpsd may be back.
    package func wake() {
        signal.wake()
    }

    /// Ends the feed for good and returns at once. The last event is `.state(.stopped)`. A feed that was never started
    /// sends no event.
    package func stop() {
        signal.stop()
    }

    package var counters: FeedCounters { shared.value }
}

/// The machine's counters, readable from any thread.
final class SharedCounters: Sendable {
    private let counters = Mutex(FeedCounters())

    var value: FeedCounters { counters.withLock { $0 } }

    func publish(_ value: FeedCounters) {
        counters.withLock { $0 = value }
    }
}

/// Where gpsd is, and which receiver the feed wants.
package struct FeedConfiguration: Hashable, Sendable {
    /// A name or an address.
    package let host: String
    package let port: UInt16
    /// gpsd's path for the receiver. Nil: the reports of every receiver.
    package let device: String?
    package let timing: FeedTiming

    /// Throws ``GNSSFeedError`` with code `configuration` for an impossible host or device.
    package init(
        host: String = "localhost", port: UInt16 = 2947, device: String? = nil, timing: FeedTiming = FeedTiming()
    ) throws(GNSSFeedError) {
        guard !host.isEmpty, host.utf8.count <= 255, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw GNSSFeedError(.configuration, "gpsd host \"\(host)\": a name or address without spaces is needed")
        }
        guard port != 0 else {
            throw GNSSFeedError(.configuration, "gpsd port 0: a port from 1 to 65535 is needed (gpsd's own is 2947)")
        }
        if let device {
            // libgps's GPS_PATH_MAX with its NUL: libgps would cut a longer path.
            guard !device.isEmpty, device.utf8.count < 128, device.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw GNSSFeedError(
                    .configuration, "gpsd device \"\(device)\": a path of 1 to 127 printable bytes is needed")
            }
        }
        self.host = host
        self.port = port
        self.device = device
        self.timing = timing
    }

    /// The command that makes gpsd open the receiver and send reports. gpsd answers with DEVICES and WATCH.
    var watchCommand: String {
        guard let device else { return "?WATCH={\"enable\":true,\"json\":true};\n" }
        var quoted = ""
        for character in device.unicodeScalars {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(character)
        }
        return "?WATCH={\"enable\":true,\"json\":true,\"device\":\"\(quoted)\"};\n"
    }
}

/// All waits of the feed, in milliseconds.
package struct FeedTiming: Hashable, Sendable {
    /// The time for one connection attempt, for all addresses of the host together.
    package var connect: Int64 = 10_000
    /// From the connection to gpsd's greeting.
    package var greeting: Int64 = 10_000
    /// So long after a TPV without another one, the feed sends ``FeedEvent/silence``.
    package var silence: Int64 = 2_500
    /// So long without a TPV while there is a fix, the state returns to ``FeedState/noFix``.
    package var stale: Int64 = 10_000
    /// So long without a word of a receiver, the feed asks gpsd which receivers it has.
    package var ask: Int64 = 5_000
    /// So long without a word of a receiver that gpsd has open, the receiver counts as away; longer for one that speaks seldom.
    package var mute: Int64 = 30_000
    /// So long without a byte from gpsd, the feed asks gpsd for a sign of life.
    package var quiet: Int64 = 30_000
    /// How long gpsd may take to answer that question.
    package var answer: Int64 = 10_000
    /// The first wait before connecting again; each later wait doubles.
    package var firstBackoff: Int64 = 1_000
    package var longestBackoff: Int64 = 30_000
    /// How long the number of satellites in a SKY counts for the reports that follow it.
    package var skyAge: Int64 = 5_000

    package init() {}
}

/// The feed's events for its owner, in order, on the feed's own thread.
package enum FeedEvent: Hashable, Sendable {
    /// One TPV.
    case report(GNSSReport)
    /// The feed's state has changed.
    case state(FeedState)
    /// No more reports belong to the epoch of the last report, because no TPV came for a while or the connection is
    /// gone. Comes once after each run of reports.
    case silence
}

/// Why there is a position, or why there is none.
package enum FeedState: Hashable, Sendable {
    /// Not started, or ended for good.
    case stopped
    /// The feed is connecting to gpsd, or waits for gpsd's greeting.
    case connecting
    /// gpsd does not answer at its address. The feed tries again by itself. The reason is for people.
    case unreachable(reason: String)
    /// The kernel refused the connection, or gpsd said that it may not open the receiver. The reason is for people.
    case permissionDenied(reason: String)
    /// gpsd answers, but it has no receiver, does not have the wanted one, or cannot open it. The reason is for people.
    case noDevice(reason: String)
    /// gpsd has the receiver, but the receiver has no fix or sends nothing.
    case noFix
    /// The last report held a position.
    case fix
}

/// Counts since the feed was made.
package struct FeedCounters: Hashable, Sendable {
    /// Connections on which gpsd's greeting came.
    package var connections: UInt64 = 0
    /// TPVs that became ``FeedEvent/report(_:)``.
    package var reports: UInt64 = 0
    /// Lines that are not a JSON object of gpsd, or longer than 64 KiB. The feed ignores them.
    package var rejectedLines: UInt64 = 0

    package init() {}
}

/// Why a feed cannot be made or started. Later problems are a ``FeedState``.
package struct GNSSFeedError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// A value of ``FeedConfiguration`` is impossible.
        case configuration
        /// The kernel gave no event descriptor, thread or memory.
        case resources
    }

    package let code: Code
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail }
}
