import AgentControl
import Diagnosing
import JSON
import Varlink

@testable import SakerCommand

/// What is wrong with gpsd, the receiver and the clock.
extension DiagnosisTests {
    static let receiverCases = [
        Case(
            "no gpsd", gpsd(.unreachable("Connection refused")), .gpsd, .failed, "Connection refused",
            "systemctl enable --now gpsd.socket"),
        Case("no gpsd there", gpsd(.unreachable("no"), host: "10.0.0.9"), .gpsd, .failed, "10.0.0.9:2947", "gpsd -G"),
        Case("device waits for gpsd", gpsd(.unreachable("no")), .device, .notChecked, "gpsd does not answer"),
        Case("fix waits for gpsd", gpsd(.unreachable("no")), .fix, .notChecked, "gpsd does not answer"),
        Case("not gpsd", gpsd(.foreign("SSH-2.0")), .gpsd, .failed, "SSH-2.0", "[gnss]"),
        Case(
            "no device", gpsd(.answers(release: "3.25", devices: [], fix: nil)), .device, .failed, "no receiver",
            "/etc/default/gpsd"),
        Case(
            "a port to try",
            gpsd(.answers(release: "3.25", devices: [], fix: nil)).changed { $0.serialPorts = ["/dev/ttyUSB3"] },
            .device,
            .failed, "/dev/ttyUSB3", "gpsdctl add /dev/ttyUSB3"),
        Case(
            "no device, no fix", gpsd(.answers(release: "3.25", devices: [], fix: nil)), .fix, .notChecked,
            "no receiver"),
        Case(
            "another device",
            Facts.with {
                var places = Facts.places
                places.device = "/dev/ttyS1"
                $0.configuration = .valid(places, warnings: [])
            }, .device, .failed, "wants /dev/ttyS1", "device in [gnss]"),
        Case(
            "no fix", gpsd(.answers(release: "3.25", devices: receiver, fix: GPSDFacts.Fix(mode: 1, accuracy: nil))),
            .fix,
            .failed, "has no fix", "sky"),
        Case(
            "mute", gpsd(.answers(release: "3.25", devices: receiver, fix: nil)), .fix, .failed, "says nothing",
            "cable and power, and the speed of its port"),
        Case(
            "a fix without the agent",
            silent(.missing) {
                $0.gpsd?.result = .answers(release: "3.25", devices: receiver, fix: GPSDFacts.Fix(mode: 3, accuracy: 4))
            }, .fix, .ok, "3D, accurate to 4.0 m"),
        Case(
            "no time", Facts.status { $0.gather.dates = missing(isClockUsed: false) }, .fix, .failed, "no time",
            "RMC or ZDA"),
        Case(
            "the clock's time", Facts.status { $0.gather.dates = missing(isClockUsed: true) }, .fix, .warning,
            "no time",
            "RMC or ZDA"),
        Case(
            "a standing clock",
            Facts.status {
                $0.gather.dates = DatesStatus(
                    kind: .standing, isClockUsed: false, text: "the receiver's clock stands still", remedy: "off and on"
                )
            }, .fix, .failed, "stands still", "off and on"),
        Case(
            "two dates",
            Facts.status {
                $0.gather.dates = DatesStatus(
                    kind: .receivers, isClockUsed: false, text: "two receivers tell different dates",
                    remedy: "device in [gnss]")
            }, .device, .warning, "two receivers", "device in [gnss]"),
        Case("flat", Facts.status { $0.feed.lastFix?.mode = 2 }, .fix, .warning, "2D", "antenna"),
        Case("poor", Facts.status { $0.feed.lastFix?.accuracy = 120 }, .fix, .warning, "120.0 m", "antenna"),
        Case("old", Facts.status { $0.feed.lastFix?.age = 25_000 }, .fix, .warning, "25 s old", "gpspipe"),
    ]

    private static func missing(isClockUsed: Bool) -> DatesStatus {
        DatesStatus(
            kind: .missing, isClockUsed: isClockUsed, text: "the receiver tells no time", remedy: "Enable RMC or ZDA")
    }

    static let clockCases = [
        Case(
            "another date",
            Facts.status {
                $0.gather.dates = DatesStatus(
                    kind: .disagreement, receiverTime: 1, clockTime: 2, isClockUsed: true,
                    text: "the receiver's date is 2035-07-01", remedy: "Update the receiver's firmware")
            }, .clock, .warning, "2035-07-01", "firmware"),
        Case(
            "unkept", Facts.with { $0.clock.isSynchronised = false }, .clock, .warning, "nobody keeps",
            "systemd-timesyncd"),
        Case("unknown", Facts.with { $0.clock.isSynchronised = nil }, .clock, .ok, "nobody says"),
        Case("1970", Facts.with { $0.clock.time = 60_000 }, .clock, .warning, "1970-01-01", "systemd-timesyncd"),
        Case(
            "server ahead", Facts.with { $0.clock.serverDifference = 90_000 }, .clock, .warning,
            "server 1 min 30 s ahead"),
        Case(
            "rolled over", Facts.with { $0.clock.receiverDifference = -619_315_200_000 }, .clock, .warning,
            "receiver's date is wrong", "firmware"),
        Case(
            "too early", Facts.link(.waiting, "certificate_not_yet_valid").changed { $0.clock.isSynchronised = false },
            .clock,
            .failed, "not yet valid", "systemd-timesyncd"),
        Case(
            "absurd", Facts.with { ($0.clock.serverDifference, $0.clock.receiverDifference) = (.min, .max) }, .clock,
            .warning,
            "behind"),
    ]
}
