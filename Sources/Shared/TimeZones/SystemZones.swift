package import Geofencing
internal import Glibc
internal import Synchronization
package import TrackModel

/// The time zones of this computer, by their names. A zone is read once: a newer zone database counts after a restart.
package final class SystemZones: Sendable {
    package static let usualDirectory = "/usr/share/zoneinfo"
    /// More names than the database has are not kept.
    private static let mostKept = 1024

    private let directory: String
    private let span: ClosedRange<Timestamp>
    private let known = Mutex<[String: ZoneOffsets]>([:])

    /// `span`: the time for which offsets are told.
    package init(
        directory: String = SystemZones.usualDirectory, span: ClosedRange<Timestamp> = SystemZones.usualSpan
    ) {
        (self.directory, self.span) = (directory, span)
    }

    /// 1970 to 2100.
    package static let usualSpan = Timestamp(milliseconds: 0)...Timestamp(seconds: 4_102_444_800)

    /// Nil when this computer has no zone of this name. Reads a file the first time.
    package func offsets(_ name: String) -> ZoneOffsets? {
        if let found = known.withLock({ $0[name] }) { return found }
        guard let file = file(name) else { return nil }
        let offsets = file.offsets(from: span.lowerBound, through: span.upperBound)
        known.withLock { if $0.count < Self.mostKept { $0[name] = offsets } }
        return offsets
    }

    package func file(_ name: String) -> ZoneFile? {
        guard Self.isName(name), let bytes = Self.read("\(directory)/\(name)") else { return nil }
        return try? ZoneFile(bytes)
    }

    /// As in `Asia/Shanghai`: nothing that leads out of the directory.
    package static func isName(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return (1...64).contains(name.utf8.count)
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                            UInt8(ascii: "+"):
                            true
                        default: false
                        }
                    }
            }
    }

    /// Nil for what is no file, cannot be read, or is too large for a zone.
    private static func read(_ path: String) -> [UInt8]? {
        // A pipe in the place of a file must not hold up the reader.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var about = stat()
        guard fstat(descriptor, &about) == 0, about.st_mode & S_IFMT == S_IFREG, about.st_size > 0,
            about.st_size <= ZoneFile.mostBytes
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(about.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            filled += count
        }
        return bytes
    }
}
