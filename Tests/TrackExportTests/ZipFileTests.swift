import Glibc
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackExport

/// Zip files that other programs wrote, and broken ones.
@Suite struct ZipFileTests {
    /// Where Python writes a zip file, by this code with the path in `p`.
    private func file(_ code: String) throws -> String {
        let path = "/tmp/saker-zip-\(UInt64.random(in: 0 ... .max)).zip"
        let program = "import zipfile,sys; p=sys.argv[1]; " + code
        try #require(system("python3 -c '\(program)' \(path)") == 0)
        return path
    }

    /// A broken file may say that it has none.
    private struct NoEntry: Error {
        let index: Int
    }

    private func content(_ path: String, _ index: Int = 0) throws -> String {
        let file = try ZipFile(path)
        guard let entry = file.entries.dropFirst(index).first else { throw NoEntry(index: index) }
        let reader = try file.reader(of: entry)
        var bytes: [UInt8] = []
        while let piece = try reader.next() {
            #expect(piece.count <= 65_536)
            bytes += piece
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4 << 20)
        let count = read(descriptor, &bytes, bytes.count)
        return Array(bytes[..<count])
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }

    @Test(arguments: ["zipfile.ZIP_STORED", "zipfile.ZIP_DEFLATED"])
    func filesOfPythonAreRead(_ method: String) throws {
        let path = try file(
            "z=zipfile.ZipFile(p,\"w\",\(method)); z.writestr(\"a.json\",\"one\\n\"*50000); z.writestr(\"b.txt\",\"\"); z.comment=b\"x\"*999; z.close()"
        )
        defer { unlink(path) }
        #expect(try ZipFile(path).entries.map(\.name) == ["a.json", "b.txt"])
        #expect(try content(path) == String(repeating: "one\n", count: 50_000))
        #expect(try content(path, 1) == "")
    }

    /// A short file whose entries are one body would be unpacked as often as it has entries.
    @Test func entriesThatShareABodyAreRefused() throws {
        let path = try file(
            "z=zipfile.ZipFile(p,\"w\",zipfile.ZIP_DEFLATED); z.writestr(\"a.json\",\"one\\n\"*50000); e=z.infolist()[0]; z.filelist += [e]*5000; z.close()"
        )
        defer { unlink(path) }
        let failure = #expect(throws: ZipFile.Failure.self) { try ZipFile(path) }
        #expect(failure?.description.contains("shares its bytes") == true)
    }

    @Test func aFileHasNoMoreEntriesThanAnyExport() throws {
        let path = try file(
            "z=zipfile.ZipFile(p,\"w\"); [z.writestr(str(i),\"\") for i in range(10001)]; z.close()")
        defer { unlink(path) }
        let failure = #expect(throws: ZipFile.Failure.self) { try ZipFile(path) }
        #expect(failure?.description.contains("10000 are the most") == true)
    }

    @Test func entriesCannotHoldMoreThanTheFileCan() throws {
        let path = try file(
            "z=zipfile.ZipFile(p,\"w\",zipfile.ZIP_DEFLATED); z.writestr(\"a.json\",\"one\"); z.infolist()[0].file_size=10**9; z.close()"
        )
        defer { unlink(path) }
        let failure = #expect(throws: ZipFile.Failure.self) { try ZipFile(path) }
        #expect(failure?.description.contains("can hold") == true)
    }

    @Test func filesOfZip64AreRead() throws {
        let path = try file(
            "z=zipfile.ZipFile(p,\"w\",zipfile.ZIP_DEFLATED); f=z.open(\"a.json\",\"w\",force_zip64=True); f.write(b\"long\"); f.close(); z.close()"
        )
        defer { unlink(path) }
        #expect(try content(path) == "long")
    }

    @Test func whatOursWritesOursReads() throws {
        let path = "/tmp/saker-zip-\(UInt64.random(in: 0 ... .max)).zip"
        defer { unlink(path) }
        var file = try ExportFile(path: path, entry: "1_1.json", modified: .at(0))
        try file.append(Array("text".utf8))
        _ = try file.finish()
        #expect(try ZipFile(path).entries.map(\.name) == ["1_1.json"])
        #expect(try content(path) == "text")
    }

    @Test func brokenFilesAreToldAndHarmNobody() throws {
        let path = try file(
            "z=zipfile.ZipFile(p,\"w\",zipfile.ZIP_DEFLATED); z.writestr(\"a.json\",\"\".join(str(i*7919%1000) for i in range(3000))); z.close()"
        )
        defer { unlink(path) }
        let whole = try bytes(path)
        let right = try content(path)
        for length in stride(from: 0, to: whole.count, by: 13) {
            try write(Array(whole[..<length]), to: path)
            #expect(throws: ZipFile.Failure.self, "cut at \(length)") { try content(path) }
        }
        var uncounted = whole
        uncounted.replaceSubrange((whole.count - 14)..<(whole.count - 10), with: [0, 0, 0, 0])
        try write(uncounted, to: path)
        #expect(throws: ZipFile.Failure.self, "an entry that the end record does not count") { try ZipFile(path) }
        let seed = UInt64.random(in: 0 ... .max)
        var dice = SplitMix(state: seed)
        for _ in 0..<3000 {
            var bytes = whole
            for _ in 0...Int(dice.next() % 3) {
                bytes[Int(dice.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: dice.next())
            }
            try write(bytes, to: path)
            // Right or refused; names and times may differ.
            if let found = try? content(path) { #expect(found == right, "seed \(seed)") }
        }
        try write(Array("no zip file".utf8), to: path)
        #expect(throws: ZipFile.Failure("\(path) is no zip file")) { try ZipFile(path) }
        #expect(throws: ZipFile.Failure.self) { try ZipFile("/tmp") }
        #expect(throws: ZipFile.Failure.self) { try ZipFile("/nowhere/x.zip") }
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func linesAreCutAnywhere(_ size: Int) {
        let text = Array("one\n\ntwo\r\nthree longer\nend".utf8)
        var cutter = LineCutter(maximum: 8)
        var lines: [[UInt8]] = []
        for start in stride(from: 0, to: text.count, by: size) {
            lines += cutter.cut(Array(text[start..<min(text.count, start + size)]))
        }
        if let last = cutter.finish() { lines.append(last) }
        let found = lines.map { String(decoding: $0, as: UTF8.self) }
        #expect(found == ["one", "", "two\r", "three lon", "end"])
    }
}

@Suite struct ZipEntryTests {
    private let time = Timestamp(seconds: 1_772_445_330)

    @Test func theHeaderKeepsItsLength() {
        var entry = ZipEntry(name: "7_9.json", modified: time)
        let first = entry.header.count
        entry.add(plain: Array("abc".utf8), packed: 5)
        #expect(entry.header.count == first)
        #expect(entry.header[14..<18].elementsEqual([0xC2, 0x41, 0x24, 0x35]), "the CRC-32 of abc is 352441C2")
        #expect(entry.header[18] == 5 && entry.header[22] == 3)
        #expect(!entry.trailer.starts(with: [0]))
    }

    /// 2026-03-02 09:55:30 UTC.
    @Test func timesAreThoseOfMSDOS() {
        let header = ZipEntry(name: "a", modified: time).header
        let clock = UInt16(header[10]) | UInt16(header[11]) << 8
        let date = UInt16(header[12]) | UInt16(header[13]) << 8
        #expect(clock == 9 << 11 | 55 << 5 | 15)
        #expect(date == 46 << 9 | 3 << 5 | 2)
        let early = ZipEntry(name: "a", modified: Timestamp(seconds: 0)).header
        #expect(early[12] == 1 << 5 | 1 && early[13] == 0, "the calendar begins in 1980")
    }

    @Test func longContentHasLongSizes() {
        var entry = ZipEntry(name: "a", modified: time)
        entry.add(plain: [], packed: 1 << 33)
        let header = entry.header
        #expect(header[4] == 45, "zip64")
        #expect(header[18..<22].allSatisfy { $0 == 0xFF })
        #expect(header[31..<35].elementsEqual([1, 0, 16, 0]))
        #expect(entry.trailer.count > ZipEntry(name: "a", modified: time).trailer.count + 56 + 20)
    }
}
