import Glibc

/// Does the steps of a plan below a root directory, and counts what it removed.
struct ImageCleaner {
    private let tree: ImageTree
    private(set) var failures: [String] = []

    /// `root`: empty for this system.
    init(root: String) { tree = ImageTree(root: root) }

    /// Files that were removed or emptied.
    mutating func run(_ step: ImagePlan.Step) -> Int {
        switch step {
        case .remove(let path): atParent(of: path) { Self.remove($0, $1) }
        case .removeSecret(let path): atParent(of: path) { Self.removeSecret($0, $1) }
        case .truncate(let path): atParent(of: path) { Self.truncate($0, $1) }
        case .empty(let path): at(path) { $0.empty($1) }
        case .emptyOwn(let path, let files):
            at(path) { cleaner, place in
                path == files.directory && place.path == path
                    ? cleaner.emptyAll(place) : cleaner.removeOwn(place, files)
            }
        case .removeNamed(let directory, let prefix, let suffixes):
            at(directory) { cleaner, place in
                cleaner.each(in: place) { name in
                    let text = name.text
                    return text.hasPrefix(prefix) && (suffixes.isEmpty || suffixes.contains(where: text.hasSuffix))
                        ? Self.remove(place, name) : .success(0)
                }
            }
        }
    }

    private typealias Outcome = Result<Int, ImageTree.Trouble>

    private mutating func at(
        _ path: String, _ body: (inout ImageCleaner, ImageTree.Place) -> Int
    ) -> Int {
        do throws(ImageTree.Trouble) {
            return try tree.inside(path) { place throws(ImageTree.Trouble) in body(&self, place) }
        } catch {
            note(error)
            return 0
        }
    }

    private mutating func atParent(of path: String, _ body: (ImageTree.Place, ImageTree.Name) -> Outcome) -> Int {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return at(String(path[..<end])) { cleaner, place in
            cleaner.count(body(place, ImageTree.Name(path[end...].drop { $0 == "/" })))
        }
    }

    /// What is missing is no failure.
    private mutating func count(_ outcome: Outcome) -> Int {
        switch outcome {
        case .success(let count): return count
        case .failure(let trouble):
            note(trouble)
            return 0
        }
    }

    private mutating func each(in place: ImageTree.Place, _ body: (ImageTree.Name) -> Outcome) -> Int {
        do throws(ImageTree.Trouble) {
            return try ImageTree.names(in: place).reduce(0) { $0 + count(body($1)) }
        } catch {
            note(error)
            return 0
        }
    }

    private static func remove(_ place: ImageTree.Place, _ name: ImageTree.Name) -> Outcome {
        if unlinkat(place.descriptor, name.bytes, 0) == 0 { return .success(1) }
        return .failure(ImageTree.Trouble(path: "\(place.path)/\(name.text)", number: errno))
    }

    /// A link that were removed would leave the secret where it points to, and nobody would look there.
    private static func removeSecret(_ place: ImageTree.Place, _ name: ImageTree.Name) -> Outcome {
        var facts = stat()
        guard fstatat(place.descriptor, name.bytes, &facts, AT_SYMLINK_NOFOLLOW) == 0,
            facts.st_mode & S_IFMT == S_IFLNK
        else { return remove(place, name) }
        return .failure(ImageTree.Trouble(path: "\(place.path)/\(name.text)", number: ELOOP))
    }

    private static func truncate(_ place: ImageTree.Place, _ name: ImageTree.Name) -> Outcome {
        // A link to another file would empty that one.
        let descriptor = openat(place.descriptor, name.bytes, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            return .failure(ImageTree.Trouble(path: "\(place.path)/\(name.text)", number: errno))
        }
        fsync(descriptor)
        close(descriptor)
        return .success(1)
    }

    /// What else is in the directory stays, and is not looked into.
    private mutating func removeOwn(_ place: ImageTree.Place, _ files: OwnFiles) -> Int {
        each(in: place) { name in
            var facts = stat()
            guard files.contains(name.text),
                fstatat(place.descriptor, name.bytes, &facts, AT_SYMLINK_NOFOLLOW) == 0,
                facts.st_mode & S_IFMT == S_IFREG
            else { return .success(0) }
            return Self.remove(place, name)
        }
    }

    /// Follows no link: what a link points to is not this vehicle's.
    private mutating func empty(_ place: ImageTree.Place) -> Int {
        // A link on the way may lead to a directory that is not the agent's alone.
        guard place.path == "\(VehicleDirectory.system)/\(VehicleDirectory.credentials)" else {
            failures.append("\(place.path.printable): a link leads there, it may be others' too, and is left")
            return 0
        }
        return emptyAll(place)
    }

    private mutating func emptyAll(_ place: ImageTree.Place) -> Int {
        var names: [ImageTree.Name] = []
        do throws(ImageTree.Trouble) {
            names = try ImageTree.names(in: place)
        } catch {
            note(error)
        }
        return names.reduce(0) { $0 + removeAll(place, $1) }
    }

    private mutating func removeAll(_ place: ImageTree.Place, _ name: ImageTree.Name) -> Int {
        let path = "\(place.path)/\(name.text)"
        guard let inner = try? ImageTree.open(place.descriptor, name, path: path) else {
            return count(Self.remove(place, name))
        }
        let removed = emptyAll(ImageTree.Place(descriptor: inner, path: path))
        close(inner)
        if unlinkat(place.descriptor, name.bytes, AT_REMOVEDIR) != 0 {
            note(ImageTree.Trouble(path: path, number: errno))
        }
        return removed
    }

    private mutating func note(_ trouble: ImageTree.Trouble) {
        guard !trouble.isAbsence else { return }
        failures.append("\(tree.root)\(trouble.path.printable): \(String(cString: strerror(trouble.number)))")
    }
}
