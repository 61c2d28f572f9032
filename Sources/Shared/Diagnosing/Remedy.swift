/// What both doctors advise. Each command works when it is typed on a Debian without further packages.
package enum Remedy {
    /// A clock that is wrong, or that nobody keeps. date(1) refuses the letters, so nobody sets an example's time.
    package static let clock =
        "sudo apt install systemd-timesyncd, then: sudo systemctl enable --now systemd-timesyncd. Without a network, with the "
        + "date and time of now: sudo date -s 'YYYY-MM-DD hh:mm'"
    /// What the clock says, for a person to compare.
    package static let lookAtClock = "Is the clock right? date"

    /// Whether a name is found. libc's own lookup, which programs use too; other tools ask other servers.
    package static func lookUp(_ name: String) -> String { "getent hosts \(name)" }

    /// Whether this computer has a way out at all.
    package static let route = "sudo apt install iproute2; ip route"

    /// Which satellites the receiver hears.
    package static let satellites = "sudo apt install gpsd-clients, then: cgps -s"

    /// Whether the receiver sends.
    package static let receiver = "sudo apt install gpsd-clients, then: gpspipe -w -n 10"
    /// The same, as the receiver sends it.
    package static let sentences = "sudo apt install gpsd-clients, then: gpspipe -r -n 20"
}
