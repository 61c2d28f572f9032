import Glibc
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackExport

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
