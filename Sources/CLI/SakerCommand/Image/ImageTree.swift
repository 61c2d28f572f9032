import Glibc

/// The files below a root directory, as a system sees them that starts from there: a link leads no further than the root.
///
/// Each part of a path is opened by itself and no link is followed by the kernel, so what is found is what is removed.
struct ImageTree {
    /// A file's name as the directory has it. It need not be UTF-8.
    struct Name: Hashable {
        let bytes: [CChar]
        init(_ bytes: [CChar]) { self.bytes = bytes.last == 0 ? bytes : bytes + [0] }
        init(_ text: some StringProtocol) { self.init(text.utf8.map { CChar(bitPattern: $0) }) }
        /// For comparisons and people.
        var text: String { String(decoding: bytes.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self) }
    }

    /// An open directory and where it is, below the root and without links.
    struct Place {
        let descriptor: Int32
        let path: String
    }

    /// An errno, and the path where it happened.
    struct Trouble: Error {
        let path: String
        let number: Int32
        var isAbsence: Bool { number == ENOENT }
    }

    private static let mostLinks = 40

    /// Empty for this system.
    let root: String

    /// Opens a directory and calls `body` with it. Throws when it or a part of its path is missing or no directory.
    func inside<Result>(_ path: String, _ body: (Place) throws(Trouble) -> Result) throws(Trouble) -> Result {
        var open = [Place(descriptor: try Self.open(AT_FDCWD, Name(root.isEmpty ? "/" : root), path: "/"), path: "")]
        defer { for place in open { close(place.descriptor) } }
        var parts = path.split(separator: "/").map(String.init)[...]
        var links = 0
        while let part = parts.popFirst() {
            if part == "." { continue }
            if part == ".." {
                if open.count > 1 { close(open.removeLast().descriptor) }
                continue
            }
            let here = open[open.count - 1]
            let there = "\(here.path)/\(part)"
            if let target = Self.link(here.descriptor, Name(part)) {
                links += 1
                guard links <= Self.mostLinks else { throw Trouble(path: there, number: ELOOP) }
                if target.hasPrefix("/") { while open.count > 1 { close(open.removeLast().descriptor) } }
                parts = (target.split(separator: "/").map(String.init) + parts)[...]
                continue
            }
            open.append(Place(descriptor: try Self.open(here.descriptor, Name(part), path: there), path: there))
        }
        return try body(open[open.count - 1])
    }

    /// The names in an open directory, without `.` and `..`.
    static func names(in place: Place) throws(Trouble) -> [Name] {
        // A descriptor of its own: the stream closes it.
        let descriptor = try open(place.descriptor, Name("."), path: place.path)
        guard let stream = fdopendir(descriptor) else {
            let number = errno
            close(descriptor)
            throw Trouble(path: place.path, number: number)
        }
        defer { closedir(stream) }
        var found: [Name] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                Name($0.prefix { $0 != 0 }.map { CChar(bitPattern: $0) })
            }
            if name.text != ".", name.text != ".." { found.append(name) }
        }
        return found.sorted { $0.text < $1.text }
    }

    static func open(_ directory: Int32, _ name: Name, path: String) throws(Trouble) -> Int32 {
        let descriptor = openat(directory, name.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Trouble(path: path, number: errno) }
        return descriptor
    }

    /// Where a link points to; nil for anything else.
    private static func link(_ directory: Int32, _ name: Name) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(directory, name.bytes, &target, target.count)
        return count < 0 ? nil : String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
