import ConfigurationFile
import DirectoryAccess
import Glibc
import Terminal

/// What makes one computer this vehicle and no other: everything that two computers with one image must not share.
struct ImagePlan: Hashable {
    enum Step: Hashable {
        /// A file; one that is not there is no error.
        case remove(String)
        /// The same for a file that a configuration names. A link is left and told: the secret is elsewhere.
        case removeSecret(String)
        /// A directory with all that is in it. The directory itself stays.
        case empty(String)
        /// A directory of the agent's. Where a configuration or a link puts it elsewhere, only the agent's own files go,
        /// because others may be there too.
        case emptyOwn(String, OwnFiles)
        /// All files in a directory whose names have this begin and one of these ends; no end: any.
        case removeNamed(directory: String, prefix: String, suffixes: [String])
        /// Stays, with nothing in it: the next boot makes another.
        case truncate(String)
    }

    struct Part: Hashable {
        /// For people.
        let what: String
        let steps: [Step]

        /// What is removed, for people.
        var paths: [String] { steps.map(\.text) }
    }

    let parts: [Part]

    /// `cache`: the directory of the ring. `state`: the directory of the agent's state. `named`: files with keys,
    /// certificates and other secrets that the configurations name.
    init(cache: String, state: String, named: [String] = [], keepingHostKeys: Bool) {
        let directory = VehicleDirectory.system
        let own = [
            DeviceFiles.configuration, "client.toml", DeviceFiles.authority, DeviceFiles.certificate,
            CertificateFiles.next(of: DeviceFiles.certificate),
        ]
        // What a writing that was cut has left; of a key in the TPM also the next one.
        let unfinished = own.map { $0 + ".new-" } + [DeviceKeyChoice.tpmFileName + "."]
        var parts = [
            Part(
                what: "points that wait for the server, settings, local fences, alarms and messages",
                steps: [.emptyOwn(cache, .cache), .emptyOwn(state, .state)]),
            Part(
                what: "this vehicle's configuration, certificate and key, and its secrets",
                steps: [.empty("\(directory)/\(VehicleDirectory.credentials)")]
                    + named.map { .removeSecret($0) }
                    + (own + [DeviceKeyChoice.tpmFileName]).map { .remove("\(directory)/\($0)") }
                    + unfinished.map { .removeNamed(directory: directory, prefix: $0, suffixes: []) }),
            Part(
                what: "the machine id, and the secrets of the system that belong to it",
                steps: [
                    .truncate("/etc/machine-id"), .remove("/var/lib/dbus/machine-id"),
                    .remove("/var/lib/systemd/random-seed"), .remove("/var/lib/systemd/credential.secret"),
                ]),
        ]
        if !keepingHostKeys {
            parts.append(
                Part(
                    what: "the host keys of SSH",
                    steps: [.removeNamed(directory: "/etc/ssh", prefix: "ssh_host_", suffixes: ["_key", "_key.pub"])]))
        }
        self.parts = parts
    }
}

extension ImagePlan.Step {
    /// For people: what goes.
    fileprivate var text: String {
        switch self {
        case .remove(let path), .removeSecret(let path): path.printable
        case .empty(let path): "\(path.printable)/*"
        case .emptyOwn(let path, let files):
            path == files.directory ? "\(path)/*" : "\(path.printable)/ (\(files.text))"
        case .removeNamed(let directory, let prefix, let suffixes):
            suffixes.isEmpty
                ? "\(directory)/\(prefix)*" : suffixes.map { "\(directory)/\(prefix)*\($0)" }.joined(separator: ", ")
        case .truncate(let path): "\(path) (emptied)"
        }
    }
}

/// The files that the agent makes in a directory, by their names.
enum OwnFiles: Hashable {
    /// The ring of points that wait: docs/formats/track-cache.md.
    case cache
    /// Settings, fences, alarms and notes.
    case state

    private static let states = [
        "state.json", "computer.json", "alarms.journal", "fences.data", "server-fences.data", "refused-pin",
    ]

    /// Where they are when nothing says otherwise. Nobody else has files there.
    var directory: String {
        switch self {
        case .cache: "/var/lib/saker/cache"
        case .state: "/var/lib/saker"
        }
    }

    /// Whether a regular file of this name is the agent's.
    func contains(_ name: String) -> Bool {
        switch self {
        case .cache: name == "lock" || name == "acknowledged" || Self.isSegment(name)
        case .state: Self.states.contains { [$0, $0 + ".new", $0 + ".damaged"].contains(name) }
        }
    }

    /// Sixteen hexadecimal digits, and the end.
    private static func isSegment(_ name: String) -> Bool {
        let digits = name.utf8.prefix(16)
        guard digits.count == 16, digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return false }
        return [".segment", ".segment.new"].contains(String(name.dropFirst(16)))
    }

    /// For people.
    var text: String {
        switch self {
        case .cache: "its files lock, acknowledged and *.segment"
        case .state: "its files " + Self.states.joined(separator: ", ")
        }
    }
}

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
