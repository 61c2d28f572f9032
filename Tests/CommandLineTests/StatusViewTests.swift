import AgentControl
import JSON
import Terminal
import Testing
import Varlink

@testable import SakerCommand

@Suite struct StatusViewTests {
    init() {
        _ = LocalZone.isUTC
    }

    @Test func aTrackedBoxIsShownWhole() {
        #expect(
            StatusView(SampleStatus.tracked).lines.joined(separator: "\n") == """
                ● 货车 07 is tracked: gathering, and connected to the server

                Service     running as 货车 07 since 2026-03-04 22:17:11+00:00 (2 h 3 min ago)
                Gather      gathering every 5 s since 2026-03-04 22:17:12+00:00 (2 h 3 min ago)
                            last point 2026-03-05 00:20:29+00:00 (1 s ago)
                Receiver    fix since 2026-03-04 22:17:13+00:00 (2 h 3 min ago)
                            gpsd at 127.0.0.1:2947, /dev/ttyACM0
                Fix         31.228100, 121.477100 at 2026-03-05 00:20:29+00:00 (now)
                            3D, 11 satellites, ±3.5 m, 45.0 km/h, course 220°, altitude 15 m
                Connection  online since 2026-03-04 22:17:14+00:00 (2 h 3 min ago)
                            track.example.org:7443, session s-1, TLSv1.3
                Cache       6 points to upload (2 sent), 1 MiB of 256 MiB (<1 %)
                            the oldest of 2026-03-05 00:20:00+00:00 (30 s ago)
                            room for 13 d without a connection, at the present rate
                Points      2,000 gathered from 10,000 fixes, 1,994 stored by the server
                Skipped     7,900 not due, 100 inaccurate
                Lost        nothing since the agent started
                Settings    gather 5 s, pack 30 s, automotive, distance filter 2.5 m
                Agent       sakerd 1.2.3, up 2 h 3 min
                """)
    }

    @Test func whatKeepsABoxFromBeingTrackedIsShown() {
        #expect(
            StatusView(SampleStatus.lost).lines.joined(separator: "\n") == """
                ○ not tracked: gpsd does not answer

                Service     starting
                Gather      waiting for a fix
                Receiver    gpsd does not answer
                            gpsd at 127.0.0.1:2947
                            connection refused
                Fix         none yet
                Connection  waiting to try again since 2026-03-05 00:20:10+00:00 (20 s ago)
                            offline since 2026-03-05 00:03:20+00:00 (17 min 10 s ago)
                            track.example.org:7443
                            no route to host
                            next try in 12 s, 3 so far
                Cache       0 points to upload, 0 B, no limit
                            IN MEMORY ONLY: no space left on device
                Points      0 gathered from 0 fixes, 0 stored by the server
                Lost        12 memory full
                            the last 2026-03-05 00:20:20+00:00 (10 s ago)
                Settings    gather 5 s, pack 30 s, automotive, distance filter 2.5 m
                Agent       sakerd 1.2.3, up 30 s
                """)
    }

    @Test func theHealthStandsFirst() {
        var status = SampleStatus.tracked
        func health() -> [String] {
            StatusView(status).lines.dropFirst(2).prefix { !$0.hasPrefix("Service") }.map { String($0.dropFirst(12)) }
        }
        status.health = HealthStatus(
            troubles: [], backlog: 6, losses: [:], receiver: "fix", gathering: true, disk: "ok",
            certificateEndTime: status.time + 60 * 86_400_000, toldTime: status.time - 12_000)
        #expect(
            health() == [
                "well", "own certificate until 2026-05-04 00:20:30+00:00 (in 60 d)", "the server was told 12 s ago",
            ])
        status.health?.troubles = [
            .init(kind: "losing_points", text: "lost 3 points: its cache was full"),
            .init(kind: "behind", text: "3600 points wait on the vehicle"),
        ]
        status.health?.certificateEndTime = nil
        status.health?.toldTime = nil
        #expect(
            health() == [
                "TROUBLE: lost 3 points: its cache was full", "TROUBLE: 3600 points wait on the vehicle",
                "the server has not been told since the agent started",
            ])
        #expect(StatusView(status).lines[2].hasPrefix("Health      TROUBLE"))
    }

    @Test func theCacheTellsHowLongItsRoomLasts() {
        var cache = CacheStatus(
            state: .disk, points: 9, bytes: 192 << 20, limit: 256 << 20, unacknowledged: 0, timeToFull: 90_000)
        #expect(
            CacheView.lines(cache, now: 0, isOnline: false) == [
                "9 points to upload, 192 MiB of 256 MiB (75 %)",
                "full in 1 min 30 s at the present rate, then the oldest points are dropped",
            ])
        cache.timeToFull = 0
        cache.firstTime = 1_772_670_000_000
        let oldest = "2026-03-05 00:20:00+00:00"
        #expect(
            CacheView.lines(cache, now: cache.firstTime ?? 0, isOnline: false).last
                == "no room is left: the next points drop the oldest, from \(oldest) on")
        #expect(
            CacheView.lines(cache, now: 0, isOnline: false, isLosing: true).last
                == "FULL: points are lost; the next ones drop the oldest, from \(oldest) on")
        #expect(CacheView.lines(cache, now: 0, isOnline: true, isLosing: true).allSatisfy { !$0.contains("FULL") })
        // In memory the room on the disk tells nothing.
        (cache.state, cache.timeToFull) = (.memory, 90_000)
        #expect(CacheView.lines(cache, now: 0).last == "IN MEMORY ONLY: the disk refuses writes")
    }

    /// The server has answered them for good, and has not stored them.
    @Test func refusedPointsAreNotStored() {
        var status = SampleStatus.lost
        (status.counters.gathered, status.counters.acknowledged, status.counters.refused) = (15, 12, 3)
        let line = StatusView(status).lines.first { $0.hasPrefix("Points") }
        #expect(line?.hasSuffix("9 stored by the server, 3 refused by the server") == true)
    }

    @Test func aSilentGPSDIsToldWithItsAddressAndTheCause() {
        var status = SampleStatus.lost
        status.feed.lastError = "gpsd does not answer at 127.0.0.1:2947 (connection refused)"
        #expect(
            StatusView(status).lines.contains(
                "Receiver    gpsd does not answer at 127.0.0.1:2947 (connection refused)"))
    }

    @Test func aClockThatWasNeverSetTellsNoAges() {
        #expect(LocalTime.both(1_772_670_000_000, now: 12_000) == "2026-03-05 00:20:00+00:00")
        #expect(LocalTime.both(12_000, now: 1_772_670_000_000) == "1970-01-01 00:00:12+00:00")
        #expect(LocalTime.both(10_000, now: 12_000) == "1970-01-01 00:00:10+00:00 (2 s ago)")
    }

    /// Every status at every width: no line is wider than the terminal unless a single word is, and no word is lost.
    @Test(arguments: [40, 60, 80, 100, 200]) func theStatusFitsTheTerminal(width: Int) {
        for status in [SampleStatus.tracked, SampleStatus.lost] {
            let whole = StatusView(status).lines.joined(separator: " ").split(separator: " ")
            let lines = StatusView(status).lines(width: width)
            #expect(lines.joined(separator: " ").split(separator: " ") == whole)
            #expect(lines.allSatisfy { $0.count <= width })
        }
    }

    @Test func changesThatAreNotOnTheDiskAreShown() {
        var status = SampleStatus.tracked
        #expect(!StatusView(status).lines.contains { $0.hasPrefix("Changes") })
        status.remembered = DurableStateStatus(state: .failing, lastError: "no space left")
        let lines = StatusView(status).lines.joined(separator: "\n")
        #expect(lines.contains("not on the disk") && lines.contains("no space left"))
    }

    @Test func fencesAreShownWhenThereAreSomeOrTheirDiskRefuses() {
        var status = SampleStatus.tracked
        var fences = FencesStatus(
            kept: 0, watching: 0, inside: 0, alarms: 0, late: 0, leftOut: 0, dropped: 0, waiting: 0, lastAlarmTime: nil,
            lastError: nil, remembered: DurableStateStatus(state: .durable))
        status.fences = fences
        #expect(!StatusView(status).lines.contains { $0.hasPrefix("Fences") })
        (fences.kept, fences.watching, fences.inside) = (3, 2, 1)
        status.fences = fences
        #expect(
            StatusView(status).lines.contains {
                $0.hasPrefix("Fences") && $0.contains("3 fences, 2 watch this vehicle, inside 1")
            })
        (fences.waiting, fences.lastError) = (4, "no space left")
        fences.remembered = DurableStateStatus(state: .failing, lastError: "read-only")
        status.fences = fences
        let text = StatusView(status).lines.joined(separator: "\n")
        #expect(text.contains("4 alarms NOT ON THE DISK: no space left") && text.contains("forget them: read-only"))
    }

    @Test func serverFencesAreShown() {
        var status = SampleStatus.tracked
        var fences = FencesStatus(
            kept: 0, watching: 0, inside: 0, alarms: 0, late: 0, leftOut: 0, dropped: 0, waiting: 0, lastAlarmTime: nil,
            lastError: nil, remembered: DurableStateStatus(state: .durable))
        var server = ServerFencesStatus(
            version: 1_772_662_830_000, kept: 7, inside: 1, alarms: 0, confirmed: 0, unconfirmed: 0, reportsWaiting: 0,
            remembered: DurableStateStatus(state: .durable))
        func lines() -> [String] {
            fences.server = server
            status.fences = fences
            return StatusView(status).lines.map { $0.drop(while: { $0 == " " }) }.map(String.init)
        }
        // An agent of an earlier version tells less.
        #expect(lines().contains("Server fences  7 fences, inside 1"))
        server.changedTime = server.version
        (server.completeWithin, server.sent) = (12_000, true)
        (server.notJudged, server.notJudgedReasons) = (2, ["the zone Mars/Olympus is unknown"])
        (server.alarms, server.confirmed, server.unconfirmed, server.confirmationsWaiting) = (9, 5, 1, 3)
        (server.reportsWaiting, server.reportsWaitingSince) = (2, status.time - 60_000)
        let shown = lines()
        for line in [
            "version 1772662830000, changed 2026-03-04 22:20:30+00:00 (2 h ago)",
            "only the nearest ones: all within 12.0 km",
            "2 judged by the server alone: the zone Mars/Olympus is unknown",
            "9 early alarms since the start, 5 confirmed, 3 wait for the server's word, 1 NOT CONFIRMED in time",
            "2 reports to the server waiting, no answer since 2026-03-05 00:19:30+00:00 (1 min ago)",
        ] {
            #expect(shown.contains(line), "\(shown)")
        }
        (server.lastError, server.fileError, server.sent) = ("a bad update", "a damaged file", false)
        server.remembered = DurableStateStatus(state: .failing, lastError: "read-only")
        for part in [
            "NOT IN USE: a bad update", "sends them again: a damaged file", "sends no fences",
            "not on the disk, and a restart goes on with an earlier set: read-only",
        ] {
            #expect(lines().contains { $0.contains(part) }, "\(part)")
        }
        server.version = 0
        #expect(lines().contains("Server fences  none yet"))
    }

    @Test func aNameCannotCommandTheTerminal() {
        var status = SampleStatus.tracked
        status.entity = "\u{1B}]0;gone\u{07}\u{202E}evil\nnext"
        status.service.entity = status.entity
        let text = StatusView(status).lines.joined()
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" })
    }

    /// docs/control.md has the causes.
    @Test(arguments: [
        ("certificate_expired", "refused by this vehicle"), ("certificate_untrusted", "refused by this vehicle"),
        ("pin_mismatch", "refused by this vehicle"), ("alpn_mismatch", "refused by this vehicle"),
        ("revoked", "refused by the server"), ("key_refused", "refused by the server"),
        ("client_certificate_refused", "refused by the server"), ("credentials_unusable", "cannot be made"),
    ])
    func peopleReadWhoRefusesWhom(cause: String, words: String) {
        var link = SampleStatus.lost.link
        (link.state, link.lastErrorCause) = (.refused, cause)
        #expect(link.words == words)
    }

    @Test func eachEventIsOneLine() {
        let events: [(AgentEvent.Change, String)] = [
            (
                .connection(SampleStatus.lost.link),
                "connection  waiting to try again, track.example.org:7443, "
                    + "no route to host, next try in 12 s"
            ),
            (.gather(GatherStatus(state: .waiting)), "gather      waiting for a fix"),
            (.service(ServiceStatus(state: .stopped)), "service     stopped"),
            (.feed(SampleStatus.tracked.feed), "feed        fix, 31.228100, 121.477100, /dev/ttyACM0"),
            (.status(SampleStatus.lost), "status      ○ not tracked: gpsd does not answer"),
            (.other(kind: "fence_alarm", fields: ["id": 5]), #"fence_alarm  {"id":5}"#),
        ]
        for (change, text) in events {
            #expect(EventView.line(AgentEvent(time: 1_772_670_030_000, change)) == "00:20:30  " + text)
        }
    }
}
