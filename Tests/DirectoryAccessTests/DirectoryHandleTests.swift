import Foundation
import ProgramTestKit
import Testing

@testable import DirectoryAccess

/// What another user puts in the way of a program of root.
@Suite struct DirectoryHandleTests {
    private let directory: TemporaryDirectory
    private var home: String { directory.path + "/home" }
    private var outside: String { directory.path + "/outside" }

    init() throws {
        directory = try TemporaryDirectory()
        for path in [home, outside] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
    }

    private static func trouble<T: ~Copyable>(_ body: () throws(FileTrouble) -> T) -> Int32? {
        do throws(FileTrouble) {
            _ = try body()
            return nil
        } catch { return error.number }
    }

    @Test func onlyRegularFilesAreRead() throws {
        let file = home + "/file"
        try Data("text".utf8).write(to: URL(fileURLWithPath: file))
        symlink(file, home + "/link")
        for name in ["file", "link"] { #expect(try RegularFile.bytes(home + "/" + name) == Array("text".utf8)) }
        #expect(Self.trouble { () throws(FileTrouble) in try RegularFile.bytes(file, most: 3) } == EFBIG)
        #expect(try RegularFile.bytes(file, most: 4).count == 4)
        mkfifo(home + "/pipe", 0o600)
        for path in [home + "/pipe", "/dev/null", "/dev/zero"] {
            #expect(Self.trouble { () throws(FileTrouble) in try RegularFile.bytes(path) } == FileTrouble.irregular)
        }
        #expect(Self.trouble { () throws(FileTrouble) in try RegularFile.bytes(home) } == EISDIR)
        #expect(Self.trouble { () throws(FileTrouble) in try RegularFile.bytes(home + "/none") } == ENOENT)
    }

    @Test(.needs(.root)) func rootFollowsOnlyLinksOfRoot() throws {
        symlink(outside, home + "/way")
        #expect(try DirectoryHandle(home + "/way").path == DirectoryHandle(outside).path)
        #expect(try DirectoryHandle(home + "/way").others.isEmpty)
        // A link of another user, and a link of root where another user can put his in its place.
        lchown(home + "/way", 65_534, 65_534)
        #expect(Self.trouble { () throws(FileTrouble) in try DirectoryHandle(home + "/way") } == ELOOP)
        lchown(home + "/way", 0, 0)
        chown(home, 65_534, 65_534)
        #expect(Self.trouble { () throws(FileTrouble) in try DirectoryHandle(home + "/way") } == ELOOP)
        #expect(try DirectoryHandle(home).others == [65_534])
        chown(home, 0, 0)
        chmod(home, 0o777)
        #expect(try DirectoryHandle(home).others == [DirectoryHandle.anybody])
        chmod(home, 0o1777)
        #expect(try DirectoryHandle(home).others.isEmpty)
    }

    @Test func nothingIsDoneElsewhereWhenTheDirectoryIsReplacedByALink() throws {
        let handle = try DirectoryHandle(home)
        #expect(rename(home, home + ".former") == 0 && symlink(outside, home) == 0)
        close(try handle.create("file", mode: 0o600))
        try handle.rename("file", to: "other")
        _ = try handle.makeDirectory("folder", mode: 0o750)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside).isEmpty)
        #expect(try handle.names().map(\.text) == ["folder", "other"])
        try handle.removeDirectory("folder")
        try handle.remove("other")
        #expect(try handle.names().isEmpty)
    }

    @Test func onlyRegularFilesAreOpened() throws {
        let handle = try DirectoryHandle(home)
        try Data("secret".utf8).write(to: URL(fileURLWithPath: outside + "/secret"))
        symlink(outside + "/secret", home + "/link")
        mkfifo(home + "/pipe", 0o600)
        mkdir(home + "/folder", 0o700)
        #expect(Self.trouble { () throws(FileTrouble) in try handle.open("link") } == ELOOP)
        for name in ["pipe", "folder"] as [FileName] {
            #expect(Self.trouble { () throws(FileTrouble) in try handle.open(name) } == FileTrouble.irregular)
        }
        #expect(Self.trouble { () throws(FileTrouble) in try handle.truncate("pipe") } == FileTrouble.irregular)
        #expect(Self.trouble { () throws(FileTrouble) in try handle.truncate("link") } == ELOOP)
        #expect(Self.trouble { () throws(FileTrouble) in try handle.create("link", mode: 0o600) } == EEXIST)
        for name in ["../outside/secret", "", ".", "..", "a/b", "a\0b"] {
            #expect(Self.trouble { () throws(FileTrouble) in try handle.open(FileName(name)) } == EINVAL, "\(name)")
            #expect(handle.status(of: FileName(name)) == nil)
        }
        #expect(try String(contentsOfFile: outside + "/secret", encoding: .utf8) == "secret")
    }

    @Test func noLinkLeadsOutOfAnImage() throws {
        for path in ["/etc/saker", "/srv"] {
            try FileManager.default.createDirectory(atPath: home + path, withIntermediateDirectories: true)
        }
        for (target, name) in [
            ("/srv", "absolute"), ("../../../../srv", "above"), ("absolute", "twice"), ("loop", "loop"),
        ] {
            symlink(target, home + "/etc/saker/" + name)
        }
        for name in ["absolute", "above", "twice"] {
            #expect(try DirectoryHandle("/etc/saker/" + name, below: home).path == "/srv", "\(name)")
        }
        #expect(Self.trouble { () throws(FileTrouble) in try DirectoryHandle("/etc/saker/loop", below: home) } == ELOOP)
        #expect(try DirectoryHandle("../../srv/../..", below: home).path == "")
    }
}
