import DirectoryAccess
import Glibc
import Terminal

/// Does the steps of a plan below a root directory, and counts what it removed.
struct ImageCleaner {
    private let root: String
    private(set) var failures: [String] = []

    /// `root`: empty for this system.
    init(root: String) { self.root = root }

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

    private typealias Outcome = Result<Int, FileTrouble>

    private mutating func at(
        _ path: String, _ body: (inout ImageCleaner, borrowing DirectoryHandle) -> Int
    ) -> Int {
        do throws(FileTrouble) {
            return body(&self, try root.isEmpty ? DirectoryHandle(path) : DirectoryHandle(path, below: root))
        } catch {
            note(error)
            return 0
        }
    }

    private mutating func atParent(of path: String, _ body: (borrowing DirectoryHandle, FileName) -> Outcome) -> Int {
        let (folder, name) = DirectoryHandle.parts(of: path)
        return at(folder) { cleaner, place in cleaner.count(body(place, FileName(name))) }
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

    private mutating func each(in place: borrowing DirectoryHandle, _ body: (FileName) -> Outcome) -> Int {
        var names: [FileName] = []
        do throws(FileTrouble) {
            names = try place.names()
        } catch {
            note(error)
        }
        return names.reduce(0) { $0 + count(body($1)) }
    }

    private static func outcome(_ body: () throws(FileTrouble) -> Void) -> Outcome {
        do throws(FileTrouble) {
            try body()
            return .success(1)
        } catch {
            return .failure(error)
        }
    }

    private static func remove(_ place: borrowing DirectoryHandle, _ name: FileName) -> Outcome {
        outcome { () throws(FileTrouble) in try place.remove(name) }
    }

    /// A link that were removed would leave the secret where it points to, and nobody would look there.
    private static func removeSecret(_ place: borrowing DirectoryHandle, _ name: FileName) -> Outcome {
        guard place.status(of: name)?.kind == .link else { return remove(place, name) }
        return .failure(FileTrouble(path: "\(place.path)/\(name.text)", number: ELOOP))
    }

    /// A link to another file would empty that one, and a pipe would be waited for.
    private static func truncate(_ place: borrowing DirectoryHandle, _ name: FileName) -> Outcome {
        outcome { () throws(FileTrouble) in try place.truncate(name) }
    }

    /// What else is in the directory stays, and is not looked into.
    private mutating func removeOwn(_ place: borrowing DirectoryHandle, _ files: OwnFiles) -> Int {
        each(in: place) { name in
            guard files.contains(name.text), place.status(of: name)?.kind == .file
            else { return .success(0) }
            return Self.remove(place, name)
        }
    }

    /// Follows no link: what a link points to is not this vehicle's.
    private mutating func empty(_ place: borrowing DirectoryHandle) -> Int {
        // A link on the way may lead to a directory that is not the agent's alone.
        guard place.path == "\(VehicleDirectory.system)/\(VehicleDirectory.credentials)" else {
            failures.append("\(place.path.printable): a link leads there, it may be others' too, and is left")
            return 0
        }
        return emptyAll(place)
    }

    private mutating func emptyAll(_ place: borrowing DirectoryHandle) -> Int {
        var names: [FileName] = []
        do throws(FileTrouble) {
            names = try place.names()
        } catch {
            note(error)
        }
        return names.reduce(0) { $0 + removeAll(place, $1) }
    }

    private mutating func removeAll(_ place: borrowing DirectoryHandle, _ name: FileName) -> Int {
        let removed: Int
        do throws(FileTrouble) {
            removed = emptyAll(try place.directory(name))
            try place.removeDirectory(name)
        } catch {
            // No directory, or a link to one.
            guard error.number == ENOTDIR || error.number == ELOOP else {
                note(error)
                return 0
            }
            return count(Self.remove(place, name))
        }
        return removed
    }

    private mutating func note(_ trouble: FileTrouble) {
        guard trouble.number != ENOENT else { return }
        failures.append("\(root)\(trouble.path.printable): \(trouble.reason)")
    }
}
