import Glibc
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import TrackExport

@Suite struct ExportFileTests {
    private let time = Timestamp(seconds: 1_772_445_330)

    /// What another program finds in a zip file: the name of its entry, and the entry's content.
    private func unzipped(_ path: String) throws -> (names: String, content: [UInt8]) {
        func output(_ code: String) throws -> [UInt8] {
            let pipe = try #require(unsafe popen("python3 -c '\(code)' '\(path)'", "r"))
            var bytes: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe fread(&piece, 1, piece.count, pipe)
                guard count > 0 else { break }
                bytes += piece[..<count]
            }
            #expect(unsafe pclose(pipe) == 0)
            return bytes
        }
        let open = "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; "
        return (
            String(decoding: try output(open + "print(z.namelist()[0], len(z.namelist()))"), as: UTF8.self),
            try output(open + "sys.stdout.buffer.write(z.read(z.namelist()[0]))")
        )
    }

    @Test(arguments: [0, 1, 65_535, 262_144, 3_000_001])
    func anotherProgramReadsTheFile(_ count: Int) throws {
        try withDirectory { directory in
            let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
            var file = try ExportFile(path: directory.file(Self.token), entry: "7_9.json", modified: time)
            for start in stride(from: 0, to: count, by: 10_007) {
                try file.append(Array(content[start..<min(count, start + 10_007)]))
            }
            let bytes = try file.finish()
            var status = stat()
            #expect(stat(directory.file(Self.token), &status) == 0 && Int64(status.st_size) == bytes)
            let found = try unzipped(directory.file(Self.token))
            #expect(found.names == "7_9.json 1\n")
            #expect(found.content == content)
        }
    }

    @Test func whatIsNotFinishedIsNotThere() throws {
        try withDirectory { directory in
            let path = directory.file(Self.token)
            do {
                var file = try ExportFile(path: path, entry: "a", modified: time)
                try file.append([1, 2, 3])
                #expect(access(path + ".part", F_OK) == 0)
            }
            #expect(access(path, F_OK) != 0 && access(path + ".part", F_OK) != 0)
        }
    }

    @Test func aFullDiskIsTold() {
        #expect(throws: ExportFileError.self) { _ = try ExportFile(path: "/dev/null/x", entry: "a", modified: time) }
        #expect(ExportFileError("write", "x", ENOSPC).isFull && !ExportFileError("write", "x", EIO).isFull)
    }

    @Test func onlyFilesWithoutAJobAreRemoved() throws {
        try withDirectory { directory in
            let other = String(repeating: "b", count: 32)
            func write(_ name: String) throws {
                let file = try #require(unsafe fopen("\(directory.path)/\(name)", "w"))
                unsafe fclose(file)
            }
            for name in ["\(Self.token).zip", "\(other).zip", "\(other).zip.part", "notes.zip", "\(other)"] {
                try write(name)
            }
            #expect(directory.clear(but: [Self.token]) == 2)
            for (name, isThere) in [
                ("\(Self.token).zip", true), ("\(other).zip", false), ("\(other).zip.part", false), ("notes.zip", true),
                ("\(other)", true),
            ] {
                #expect((access("\(directory.path)/\(name)", F_OK) == 0) == isThere, "\(name)")
            }
            #expect(ExportDirectory("\(directory.path)/missing").clear(but: []) == 0)
        }
    }

    private static let token = String(repeating: "a", count: 32)

    private func withDirectory(_ body: (ExportDirectory) throws -> Void) throws {
        var template = Array("/tmp/saker-export-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) } != nil
        }
        try #require(made)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let directory = ExportDirectory("\(path)/exports")
        try directory.make()
        try directory.make()
        defer {
            for entry in [Self.token + ".zip", "notes.zip", String(repeating: "b", count: 32)] {
                unlink("\(directory.path)/\(entry)")
            }
            rmdir(directory.path)
            rmdir(path)
        }
        try body(directory)
    }
}
