import Geofencing
import Glibc
import TrackModel

/// What a named time zone stands for, by the zones of this computer.
enum ZoneTable {
    /// Nil for a name of no zone.
    static func path(_ name: String) -> String? {
        // The name comes from a file, perhaps.
        guard !name.isEmpty, !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else { return nil }
        let path = "/usr/share/zoneinfo/\(name)"
        var about = stat()
        return stat(path, &about) == 0 && about.st_mode & S_IFMT == S_IFREG ? path : nil
    }

    /// The offsets in a span of time; nil for a name of no zone.
    ///
    /// It changes TZ while it runs, so it is for programs of one thread.
    static func offsets(_ name: String, from first: Timestamp, through last: Timestamp) -> ZoneOffsets? {
        guard path(name) != nil else { return nil }
        let former = getenv("TZ").map { String(cString: $0) }
        setenv("TZ", ":\(name)", 1)
        tzset()
        defer {
            if let former { setenv("TZ", former, 1) } else { unsetenv("TZ") }
            tzset()
        }
        var (time, end) = (first.seconds - 86_400, last.seconds + 86_400)
        let offset = offset(at: time)
        var table: [ZoneOffsets.Change] = []
        var current = offset
        // A damaged date must not cost minutes.
        end = min(end, time + 400 * 366 * 86_400)
        // A week at a time: no zone changes and changes back within one.
        while time < end {
            let next = min(time + 7 * 86_400, end)
            let other = Self.offset(at: next)
            if other != current {
                var (low, high) = (time, next)
                while high - low > 1 {
                    let middle = (low + high) / 2
                    if Self.offset(at: middle) == current { low = middle } else { high = middle }
                }
                current = Self.offset(at: high)
                table.append(ZoneOffsets.Change(time: Timestamp(seconds: high), seconds: current))
                time = high
            } else {
                time = next
            }
        }
        return ZoneOffsets(first: offset, changes: table)
    }

    private static func offset(at time: Int64) -> Int32 {
        var seconds = time_t(time)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        return Int32(clamping: parts.tm_gmtoff)
    }
}
