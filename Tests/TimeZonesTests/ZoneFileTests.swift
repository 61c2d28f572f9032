import Foundation
import Geofencing
import ProgramTestKit
import Testing
import TrackModel

@testable import TimeZones

private let hour: Int32 = 3600

/// A zone of the system's database.
private func zone(_ name: String) throws -> ZoneFile { try #require(SystemZones().file(name), "no zone \(name)") }

@Suite struct ZoneFileTests {
    /// Seconds since 1970 of a time in UTC.
    private static func utc(
        _ year: Int64, _ month: Int64, _ day: Int64, _ hours: Int64, _ minutes: Int64 = 0, _ seconds: Int64 = 0
    ) -> Int64 {
        CivilDate(year: year, month: month, day: day).daysSince1970 * 86_400 + hours * 3600 + minutes * 60 + seconds
    }

    struct Edge: Sendable {
        let zone: String
        let time: Int64
        let before: Int32
        let after: Int32
    }

    static let edges: [Edge] = [
        Edge(zone: "Europe/Berlin", time: utc(2026, 3, 29, 1), before: hour, after: 2 * hour),
        Edge(zone: "Europe/Berlin", time: utc(2026, 10, 25, 1), before: 2 * hour, after: hour),
        Edge(zone: "America/New_York", time: utc(2026, 3, 8, 7), before: -5 * hour, after: -4 * hour),
        Edge(zone: "America/New_York", time: utc(2026, 11, 1, 6), before: -4 * hour, after: -5 * hour),
        // China had summer time until 1991.
        Edge(zone: "Asia/Shanghai", time: utc(1991, 9, 14, 17), before: 9 * hour, after: 8 * hour),
        // Half an hour of summer time.
        Edge(zone: "Australia/Lord_Howe", time: utc(2026, 4, 4, 15), before: 11 * hour, after: 37_800),
        Edge(zone: "Australia/Lord_Howe", time: utc(2026, 10, 3, 15, 30), before: 37_800, after: 11 * hour),
        // Winter time is the exception there, by the letter of the law.
        Edge(zone: "Europe/Dublin", time: utc(2026, 3, 29, 1), before: 0, after: hour),
        Edge(zone: "Europe/Dublin", time: utc(2026, 10, 25, 1), before: hour, after: 0),
        // By the rule, behind the list of changes.
        Edge(zone: "Europe/Berlin", time: utc(2200, 3, 30, 1), before: hour, after: 2 * hour),
        Edge(zone: "Europe/Berlin", time: utc(9999, 10, 31, 1), before: 2 * hour, after: hour),
        Edge(zone: "America/New_York", time: utc(2500, 3, 14, 7), before: -5 * hour, after: -4 * hour),
        // The clocks change the day before by UTC, and at a time of local midnight minus.
        Edge(zone: "America/Nuuk", time: utc(2100, 3, 28, 1), before: -2 * hour, after: -hour),
        // Local mean time at the beginning.
        Edge(zone: "Europe/Berlin", time: utc(1893, 3, 31, 23, 6, 32), before: 3208, after: hour),
    ]

    @Test(.needs(.timeZones), arguments: edges) func offsetsChangeAtTheKnownInstants(_ edge: Edge) throws {
        let zone = try zone(edge.zone)
        #expect(zone.offset(at: edge.time - 1) == edge.before, "\(edge.zone) before \(edge.time)")
        #expect(zone.offset(at: edge.time) == edge.after, "\(edge.zone) at \(edge.time)")
        let span = Timestamp(seconds: edge.time - 86_400)...Timestamp(seconds: edge.time + 86_400)
        let offsets = zone.offsets(from: span.lowerBound, through: span.upperBound)
        #expect(
            offsets
                == ZoneOffsets(
                    first: edge.before, changes: [.init(time: Timestamp(seconds: edge.time), seconds: edge.after)]))
    }

    @Test(.needs(.timeZones)) func zonesThatNeverChangeHaveTheirOffsets() throws {
        for (name, seconds) in [
            ("UTC", 0), ("Etc/GMT+12", -43_200), ("Asia/Kolkata", 19_800), ("Asia/Shanghai", 28_800),
        ] as [(String, Int32)] {
            let zone = try zone(name)
            #expect(zone.offset(at: Self.utc(2400, 7, 1, 0)) == seconds, "\(name)")
        }
    }

    /// The system's own reader of the same files, at the edges of all zones and at random times.
    @Test(.needs(.timeZones)) func everyZoneIsReadAsTheSystemReadsIt() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let root = SystemZones.usualDirectory
        let names = (FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? []).filter {
            SystemZones.isName($0) && !$0.hasPrefix("right/") && !$0.hasPrefix("posix/") && $0 != "localtime"
        }.sorted()
        var compared = 0
        for name in names.filter({ _ in Int.random(in: 0..<4, using: &random) == 0 }) {
            guard let zone = SystemZones().file(name) else { continue }
            var times = (0..<60).map { _ in Int64.random(in: -5_000_000_000...13_000_000_000, using: &random) }
            let span = zone.offsets(
                from: Timestamp(seconds: -5_000_000_000), through: Timestamp(seconds: 13_000_000_000))
            for change in span.changes.shuffled(using: &random).prefix(20) {
                times += [change.time.seconds - 1, change.time.seconds]
            }
            let expected = try offsetsOfDate(name, times)
            #expect(times.map { zone.offset(at: $0) } == expected, "\(name), seed \(seed)")
            for time in times {
                let table = span.changes.last { $0.time.seconds <= time }?.seconds ?? span.first
                #expect(table == zone.offset(at: time), "\(name) at \(time), seed \(seed)")
            }
            compared += 1
        }
        #expect(compared > 50, "seed \(seed)")
    }

    private func offsetsOfDate(_ name: String, _ times: [Int64]) throws -> [Int32] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/date")
        process.arguments = ["-f", "-", "+%::z"]
        process.environment = ["TZ": name, "LC_ALL": "C"]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(times.map { "@\($0)\n" }.joined().utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").compactMap { line in
            let parts = line.dropFirst().split(separator: ":").compactMap { Int32($0) }
            guard parts.count == 3 else { return nil }
            let seconds = parts[0] * 3600 + parts[1] * 60 + parts[2]
            return line.hasPrefix("-") ? -seconds : seconds
        }
    }

    // MARK: Names

    @Test(arguments: [
        "", "/etc/passwd", "../../../etc/passwd", "Europe/../Asia/Shanghai", "Europe/./Berlin", "Europe//Berlin",
        "Europe/", "Europe/Berlin\0", "Europe/Ber lin", ".", "..", "tzdata.zi", String(repeating: "a", count: 65),
    ])
    func whatIsNoNameIsNotRead(_ name: String) {
        #expect(!SystemZones.isName(name))
        #expect(SystemZones().offsets(name) == nil)
    }

    @Test func whatIsNoZoneIsNone() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(
            at: directory.appending(path: "Folder"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data("no zone".utf8).write(to: directory.appending(path: "Text"))
        try Data(count: 70_000).write(to: directory.appending(path: "Large"))
        try Data().write(to: directory.appending(path: "Empty"))
        #expect(mkfifo(directory.appending(path: "Pipe").path, 0o600) == 0)
        try Data(Built(footer: "CET-1").file).write(to: directory.appending(path: "Good"))
        let zones = SystemZones(directory: directory.path)
        for name in ["Folder", "Text", "Large", "Empty", "Pipe", "Missing"] {
            #expect(zones.offsets(name) == nil, "\(name)")
        }
        #expect(zones.offsets("Good") == ZoneOffsets(first: 3600))
        try FileManager.default.removeItem(at: directory.appending(path: "Good"))
        #expect(zones.offsets("Good") != nil)
    }

    // MARK: Files that were made for it

    /// Makes a TZif file.
    struct Built {
        var version: UInt8 = UInt8(ascii: "2")
        var times: [Int64] = []
        var kinds: [UInt8] = []
        var offsets: [Int32] = [3600]
        var footer: String? = ""
        var leaps = 0

        private func block(_ timeBytes: Int) -> [UInt8] {
            func number(_ value: Int64, _ count: Int) -> [UInt8] {
                (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
            }
            var bytes = Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
            for count in [0, 0, leaps, times.count, offsets.count, 4] { bytes += number(Int64(count), 4) }
            for time in times { bytes += number(time, timeBytes) }
            bytes += kinds
            for offset in offsets { bytes += number(Int64(offset), 4) + [0, 0] }
            return bytes + Array("ABC\0".utf8) + [UInt8](repeating: 0, count: leaps * (timeBytes + 4))
        }

        var file: [UInt8] {
            guard version != 0 else { return block(4) }
            return block(4) + block(8) + (footer.map { Array("\n\($0)\n".utf8) } ?? [])
        }
    }

    @Test func allVersionsAreRead() throws {
        for version in [0, UInt8(ascii: "2"), UInt8(ascii: "3"), UInt8(ascii: "4")] as [UInt8] {
            let zone = try ZoneFile(
                Built(version: version, times: [-100, 200], kinds: [1, 0], offsets: [60, -120]).file)
            #expect([-101, -100, 199, 200, 1 << 40].map { zone.offset(at: $0) } == [60, -120, -120, 60, 60])
        }
        // Without changes the rule holds for all time.
        let ruled = try ZoneFile(Built(footer: "<-03>3").file)
        #expect(ruled.offset(at: -9_000_000_000) == -10_800 && ruled.offset(at: 9_000_000_000) == -10_800)
    }

    @Test(arguments: [
        ("XXX5", [-18_000]), ("XXX-5:30:15", [19_815]), ("<+0330>-3:30", [12_600]),
        // Summer time all year.
        ("XXX3EDT4,0/0,J365/23", [-14_400]),
    ])
    func rulesWithoutChangesHaveOneOffset(_ footer: String, _ expected: [Int32]) throws {
        let zone = try ZoneFile(Built(footer: footer).file)
        let times = stride(from: Int64(0), to: 4_000_000_000, by: 40_000_001)
        #expect(Set(times.map { zone.offset(at: $0) }) == Set(expected))
    }

    @Test func daysOfTheYearAreCountedWithAndWithoutTheLeapDay() throws {
        // From 1 March (day 60 without the leap day) to 31 December (day 365 with it).
        let zone = try ZoneFile(Built(footer: "AAA0BBB,J60/0,365/1").file)
        for (year, day) in [(2023, 1), (2024, 1)] as [(Int64, Int64)] {
            let march = Self.utc(year, 3, day, 0)
            #expect(zone.offset(at: march - 1) == 0 && zone.offset(at: march) == 3600, "\(year)")
        }
        #expect(zone.offset(at: Self.utc(2024, 12, 30, 23, 59, 59)) == 3600)
        #expect(zone.offset(at: Self.utc(2024, 12, 31, 0)) == 0)
        // Hours beyond a day, either way.
        let late = try ZoneFile(Built(version: UInt8(ascii: "3"), footer: "AAA0BBB,M3.2.0/-26,M10.5.0/50").file)
        #expect(late.offset(at: Self.utc(2026, 3, 6, 21, 59, 59)) == 0)
        #expect(late.offset(at: Self.utc(2026, 3, 6, 22)) == 3600)
        #expect(late.offset(at: Self.utc(2026, 10, 27, 0, 59, 59)) == 3600)
        #expect(late.offset(at: Self.utc(2026, 10, 27, 1)) == 0)
    }

    @Test(arguments: [
        "X5", "XXX", "XXX25", "XXX5YYY", "XXX5YYY,M3.2.0", "XXX5YYY,M13.1.0,M3.2.0", "XXX5YYY,M3.6.0,M4.1.0",
        "XXX5YYY,M3.1.7,M4.1.0", "XXX5YYY,J0,J1", "XXX5YYY,366,1", "XXX5YYY,J1/168,J2", "XXX5YYY,J1,J2,", "XXX5:60",
        "<XX", "<XXX>5Y", "XXX5 ", "XXX0005", "XXX--5",
    ])
    func wrongRulesAreRefused(_ footer: String) {
        #expect(throws: ZoneFileError.self) { try ZoneFile(Built(footer: footer).file) }
    }

    @Test func damagedFilesAreRefused() throws {
        let good = Built(times: [1, 2], kinds: [0, 0], footer: "CET-1").file
        for count in 0..<good.count {
            #expect(throws: ZoneFileError.self, "\(count) bytes") { try ZoneFile(Array(good[..<count])) }
        }
        let wrong = [
            Built(version: UInt8(ascii: "1")), Built(version: UInt8(ascii: "5")), Built(footer: nil),
            Built(times: [2, 2], kinds: [0, 0]), Built(times: [3, 2], kinds: [0, 0]), Built(times: [1], kinds: [1]),
            Built(offsets: [93_600]), Built(offsets: [-90_000]), Built(offsets: []), Built(leaps: 1),
            Built(offsets: [Int32](repeating: 0, count: 257)),
        ]
        for built in wrong { #expect(throws: ZoneFileError.self, "\(built)") { try ZoneFile(built.file) } }
        #expect(throws: ZoneFileError.self) { try ZoneFile(good + [UInt8](repeating: 0, count: 65_536)) }
    }

    @Test func randomChangesOfAFileNeverCrashTheReader() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let good = Built(
            times: [-5, 7, 9], kinds: [0, 1, 0], offsets: [0, 3600], footer: "CET-1CEST,M3.5.0,M10.5.0/3"
        ).file
        for _ in 0..<3000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
            }
            guard let zone = try? ZoneFile(bytes) else { continue }
            for time in [Int64.min, -1 << 51, 0, 1_772_677_900, 1 << 51, .max] {
                #expect((-89_999...93_599).contains(zone.offset(at: time)), "seed \(seed)")
            }
            let span = zone.offsets(
                from: Timestamp(milliseconds: .random(in: .min ... .max, using: &random)),
                through: Timestamp(milliseconds: .random(in: .min ... .max, using: &random)))
            #expect(span.changes.count < 2100, "seed \(seed)")
        }
    }
}

/// SplitMix64.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
