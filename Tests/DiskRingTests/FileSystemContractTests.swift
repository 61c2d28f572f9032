import Glibc
import ProgramTestKit
import Testing
import TrackTestKit

@testable import DiskRing

/// What the cache relies on, asked of the real file system and of the simulated one alike.
@Suite struct FileSystemContractTests {
    enum Kind: CaseIterable { case posix, simulation }

    private func with(_ kind: Kind, _ body: (any CacheFileSystem, String) throws -> Void) throws {
        switch kind {
        case .simulation:
            try body(DiskSimulation(directories: ["/state"]), "/state")
        case .posix:
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            try body(POSIXFileSystem(), directory.path)
        }
    }

    private func write(_ files: any CacheFileSystem, _ file: CacheFile, _ bytes: [UInt8], at offset: Int) throws -> Int
    {
        try bytes.withUnsafeBytes { try files.write(file, $0, at: offset) }
    }

    private func read(_ files: any CacheFileSystem, _ file: CacheFile, _ count: Int, at offset: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = try bytes.withUnsafeMutableBytes { try files.read(file, into: $0, at: offset) }
        return Array(bytes[..<done])
    }

    @Test(arguments: Kind.allCases)
    func filesHoldWhatWasWritten(kind: Kind) throws {
        try with(kind) { files, path in
            let file = try files.open(path + "/a", .replace)
            #expect(try write(files, file, [1, 2, 3], at: 0) == 3)
            #expect(try write(files, file, [9], at: 5) == 1)
            #expect(try files.size(of: file) == 6)
            #expect(try read(files, file, 10, at: 0) == [1, 2, 3, 0, 0, 9])
            #expect(try read(files, file, 2, at: 1) == [2, 3])
            #expect(try read(files, file, 2, at: 6) == [])
            #expect(try read(files, file, 2, at: 600) == [])
            try files.truncate(file, to: 2)
            #expect(try read(files, file, 10, at: 0) == [1, 2])
            try files.synchronizeData(file)
            try files.synchronize(file)
            try files.synchronizeDirectory(path)
            files.close(file)
            let again = try files.open(path + "/a", .readWriteOrCreate)
            #expect(try files.size(of: again) == 2)
            files.close(again)
            let empty = try files.open(path + "/a", .replace)
            #expect(try files.size(of: empty) == 0)
            files.close(empty)
        }
    }

    @Test(arguments: Kind.allCases)
    func namesComeAndGo(kind: Kind) throws {
        try with(kind) { files, path in
            #expect(try files.list(path) == [])
            files.close(try files.open(path + "/a", .replace))
            files.close(try files.open(path + "/b", .readWriteOrCreate))
            try files.makeDirectory(path + "/c")
            #expect(try files.list(path).sorted() == ["a", "b", "c"])
            #expect(try files.list(path + "/c") == [])
            try files.rename(path + "/a", to: path + "/b")
            #expect(try files.list(path).sorted() == ["b", "c"])
            try files.unlink(path + "/b")
            #expect(try files.list(path) == ["c"])
        }
    }

    @Test(arguments: Kind.allCases)
    func aRenamedFileReplacesTheOneOfItsNewName(kind: Kind) throws {
        try with(kind) { files, path in
            let new = try files.open(path + "/new", .replace)
            #expect(try write(files, new, [1], at: 0) == 1)
            let old = try files.open(path + "/old", .replace)
            #expect(try write(files, old, [2, 2], at: 0) == 2)
            try files.rename(path + "/new", to: path + "/old")
            // Open files stay what they were.
            #expect(try read(files, old, 9, at: 0) == [2, 2])
            #expect(try write(files, new, [3], at: 1) == 1)
            let named = try files.open(path + "/old", .readOnly)
            #expect(try read(files, named, 9, at: 0) == [1, 3])
            for file in [new, old, named] { files.close(file) }
        }
    }

    @Test(arguments: Kind.allCases)
    func whatIsMissingIsSaid(kind: Kind) throws {
        try with(kind) { files, path in
            #expect(throws: CacheFileError(.list, ENOENT)) { try files.list(path + "/none") }
            #expect(throws: CacheFileError(.open, ENOENT)) { try files.open(path + "/none", .readOnly) }
            #expect(throws: CacheFileError(.open, ENOENT)) { try files.open(path + "/none", .readWrite) }
            #expect(throws: CacheFileError(.open, ENOENT)) { try files.open(path + "/none/a", .replace) }
            #expect(throws: CacheFileError(.unlink, ENOENT)) { try files.unlink(path + "/none") }
            #expect(throws: CacheFileError(.rename, ENOENT)) { try files.rename(path + "/none", to: path + "/a") }
            #expect(throws: CacheFileError(.makeDirectory, EEXIST)) { try files.makeDirectory(path) }
            #expect(throws: CacheFileError(.makeDirectory, ENOENT)) { try files.makeDirectory(path + "/none/b") }
            #expect(throws: CacheFileError(.synchronizeDirectory, ENOENT)) {
                try files.synchronizeDirectory(path + "/none")
            }
            files.close(try files.open(path + "/file", .replace))
            #expect(throws: CacheFileError(.list, ENOTDIR)) { try files.list(path + "/file") }
            let readOnly = try files.open(path + "/file", .readOnly)
            #expect(throws: CacheFileError(.write, EBADF)) { try write(files, readOnly, [1], at: 0) }
            files.close(readOnly)
        }
    }

    @Test(arguments: Kind.allCases)
    func sizesGrowWithZerosAndNothingIsNothing(kind: Kind) throws {
        try with(kind) { files, path in
            let file = try files.open(path + "/a", .replace)
            defer { files.close(file) }
            #expect(try write(files, file, [], at: 0) == 0)
            #expect(try write(files, file, [7], at: 0) == 1)
            try files.truncate(file, to: 4)
            #expect(try read(files, file, 9, at: 0) == [7, 0, 0, 0])
            #expect(try read(files, file, 0, at: 0) == [])
            // What was cut off does not come back.
            #expect(try write(files, file, [5, 5], at: 2) == 2)
            try files.truncate(file, to: 3)
            try files.truncate(file, to: 5)
            #expect(try read(files, file, 9, at: 0) == [7, 0, 5, 0, 0])
        }
    }

    @Test(arguments: Kind.allCases)
    func anOpenFileOutlivesItsName(kind: Kind) throws {
        try with(kind) { files, path in
            let file = try files.open(path + "/a", .replace)
            #expect(try write(files, file, [1, 2], at: 0) == 2)
            try files.unlink(path + "/a")
            #expect(try read(files, file, 9, at: 0) == [1, 2])
            try files.synchronizeData(file)
            // The same name is another file now; emptying a file is seen by all who have it open.
            let other = try files.open(path + "/a", .replace)
            #expect(try write(files, other, [3], at: 0) == 1)
            #expect(try read(files, file, 9, at: 0) == [1, 2])
            let emptier = try files.open(path + "/a", .replace)
            #expect(try files.size(of: other) == 0)
            for file in [file, other, emptier] { files.close(file) }
        }
    }

    /// With a disk of `bytes`.
    private func withSmall(
        _ kind: Kind, bytes: Int, _ body: (any CacheFileSystem, String, _ setReadOnly: (Bool) -> Void) throws -> Void
    ) throws {
        try with(kind) { files, path in
            if let disk = files as? DiskSimulation {
                disk.capacity = bytes
                return try body(files, path) { disk.isReadOnly = $0 }
            }
            try Need.smallDisks.demand()
            try require(mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)") == 0, "no tmpfs of \(bytes) bytes")
            defer { umount2(path, Int32(MNT_DETACH)) }
            try body(files, path) { isReadOnly in
                let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
                #expect(mount("tmpfs", path, "tmpfs", flags, "") == 0)
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func aFullDiskTakesAPartAndThenSaysSo(kind: Kind) throws {
        try withSmall(kind, bytes: 64 * 1024) { files, path, _ in
            let file = try files.open(path + "/a", .replace)
            defer { files.close(file) }
            let block = [UInt8](repeating: 9, count: 10_000)
            var size = 0
            let error = #expect(throws: CacheFileError.self) {
                for _ in 0..<20 { size += try write(files, file, block, at: size) }
            }
            #expect(error == CacheFileError(.write, ENOSPC))
            #expect((40_000...64 * 1024).contains(size))
            // What was there can be read and written again.
            #expect(try read(files, file, 3, at: size - 3) == [9, 9, 9])
            #expect(try write(files, file, [1, 2], at: 100) == 2)
            try files.synchronizeData(file)
            try files.truncate(file, to: 4096)
            #expect(try write(files, file, block, at: 4096) > 0)
        }
    }

    @Test(arguments: Kind.allCases)
    func aReadOnlyDiskIsReadAndNotChanged(kind: Kind) throws {
        try withSmall(kind, bytes: 1 << 20) { files, path, setReadOnly in
            let file = try files.open(path + "/a", .replace)
            #expect(try write(files, file, [1], at: 0) == 1)
            files.close(file)
            setReadOnly(true)
            let readOnly = try files.open(path + "/a", .readOnly)
            #expect(try read(files, readOnly, 9, at: 0) == [1])
            files.close(readOnly)
            #expect(try files.list(path) == ["a"])
            for access in [CacheFileAccess.readWrite, .readWriteOrCreate, .replace] {
                #expect(throws: CacheFileError(.open, EROFS)) { try files.open(path + "/a", access) }
            }
            #expect(throws: CacheFileError(.makeDirectory, EROFS)) { try files.makeDirectory(path + "/b") }
            #expect(throws: CacheFileError(.unlink, EROFS)) { try files.unlink(path + "/a") }
            #expect(throws: CacheFileError(.rename, EROFS)) { try files.rename(path + "/a", to: path + "/b") }
            setReadOnly(false)
            try files.unlink(path + "/a")
        }
    }

    @Test(arguments: Kind.allCases)
    func aLockHasOneHolder(kind: Kind) throws {
        try with(kind) { files, path in
            let first = try files.open(path + "/lock", .readWriteOrCreate)
            let second = try files.open(path + "/lock", .readWriteOrCreate)
            #expect(try files.lock(first))
            #expect(try files.lock(first))
            #expect(try !files.lock(second))
            files.close(first)
            #expect(try files.lock(second))
            files.close(second)
        }
    }
}

/// A directory of its own, under the system's place for them.
struct TemporaryDirectory {
    let path: String

    init(in parent: String = "/tmp") throws {
        var template = Array("\(parent)/saker-ring-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CacheFileError(.makeDirectory, errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// With the files and directories in it.
    func remove() { Self.remove(path) }

    static func remove(_ path: String) {
        for name in (try? POSIXFileSystem().list(path)) ?? [] {
            if unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        }
        rmdir(path)
    }
}
