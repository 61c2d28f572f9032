internal import AlarmLog
internal import ConfigurationFile
internal import DiskRing
internal import JSON
internal import Logging
internal import SecureLink
internal import Systemd
internal import TrackModel

/// Looks at each start whether the disk came from another computer: then another agent may use the same stream.
struct ComputerChangeCheck {
    let file: ComputerFile
    let traits: ComputerTraits
    let log: Logger

    /// Leaves the stream of a ring whose disk came from another computer, and returns whether it did. A ring whose disk does not
    /// answer is looked at by the next process.
    func look(at cache: DiskRing, now: MonotonicTime) -> Bool {
        guard case .disk = cache.state else { return false }
        let verdict: ComputerChange
        do throws(SecureLinkError) {
            verdict = try ComputerChange(file.read(), traits, stream: cache.streamID)
        } catch {
            log.warning("This computer cannot be told from another one", metadata: ["reason": "\(error.detail)"])
            return false
        }
        // First on the disk: a process that is killed here must not take the next one for the same computer's.
        if let note = verdict.note, let trouble = file.write(note) {
            log.warning("On which computer the agent runs cannot be noted", metadata: ["reason": "\(trouble)"])
        }
        guard verdict.isMoved else { return false }
        if verdict.isNew {
            log.warning(
                "This disk was in another computer: new points get a stream of their own",
                metadata: .event(
                    .computerChanged,
                    [
                        "points": "\(cache.count)",
                        "remedy": "if it is a copy: sudo saker image prepare, then sudo saker enroll",
                    ]))
        }
        cache.leaveStream(now: now)
        return true
    }
}

/// On which computer the agent ran last, as it is noted beside the ring.
struct ComputerRecord: Codable, Hashable, Sendable {
    var version = 1
    /// ``ComputerTraits/mark(of:)``
    var mark: String
    /// Of ``ComputerTraits/Parts``: what the mark is made of.
    var parts: UInt8
    /// The stream that another computer has too, 32 hexadecimal digits, until the ring has left it; nil: there is none.
    var leaving: String?
}

/// What follows from the note and the computer that the agent runs on now. Knows no file.
struct ComputerChange: Hashable {
    /// The disk was in another computer when the agent ran last, and its stream is still that computer's.
    var isMoved = false
    /// It is found out now, and not by an earlier process.
    var isNew = false
    /// To be written; nil: what is noted stays.
    var note: ComputerRecord?

    /// `stream`: the one on the disk.
    ///
    /// Marks of different parts say nothing about each other. So a note of fewer parts is compared with a mark of these parts and
    /// then made anew from all, and a note of more parts stays as it is.
    init(_ noted: ComputerRecord?, _ traits: ComputerTraits, stream: StreamID) throws(SecureLinkError) {
        guard !traits.parts.isEmpty else { return }
        let name = stream.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let own = ComputerRecord(mark: try traits.mark(), parts: traits.parts.rawValue)
        guard let noted else {
            note = own
            return
        }
        let parts = ComputerTraits.Parts(rawValue: noted.parts)
        var next = noted
        if !parts.isEmpty, traits.parts.isSuperset(of: parts) {
            let isSame = try traits.mark(of: parts) == noted.mark
            (next.mark, next.parts) = (own.mark, own.parts)
            if !isSame {
                next.leaving = name
                isNew = true
            }
        }
        if next.leaving != name { next.leaving = nil }
        isMoved = next.leaving != nil
        note = next == noted ? nil : next
    }
}

/// The file of the ``ComputerRecord``: JSON, replaced whole. Both calls may block.
struct ComputerFile {
    private let directory: String
    private let files: any CacheFileSystem
    private static let maximumBytes = 4096

    init(directory: String, files: any CacheFileSystem = POSIXFileSystem()) {
        self.directory = directory
        self.files = files
    }

    private var path: String { directory + "/computer.json" }

    /// Nil when there is none, or none that can be read: then it is noted anew.
    func read() -> ComputerRecord? {
        guard let file = try? files.openFile(path, .readOnly) else { return nil }
        defer { files.close(file) }
        guard let bytes = try? files.bytes(of: file, at: 0, count: Self.maximumBytes),
            let note: ComputerRecord = try? JSONReader.value(of: bytes).decoded(), note.version == 1
        else { return nil }
        return note
    }

    /// Durable on return. Returns why it failed, a sentence; nil when the note is on the disk.
    func write(_ note: ComputerRecord) -> String? {
        guard let value = try? JSONValue(encoding: note) else { return "\(path): the note cannot be encoded" }
        do throws(CacheFileError) {
            try files.replaceFile(path, in: directory, with: Array("\(value)\n".utf8))
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }
}

extension ComputerTraits {
    /// What the agent may know of its computer. Root alone reads the UUID of a board, so systemd passes it on as a credential; the
    /// serial number of a board with a device tree is readable by everybody.
    static func ofAgent(root: String = "") -> ComputerTraits {
        let credential = (try? Secret.credential(named: "machine-uuid"))?.flatMap { line(in: Array($0.revealed.utf8)) }
        let board =
            credential ?? line(of: root + "/sys/class/dmi/id/product_uuid")
            // The sandbox of the unit hides this directory's usual name, /proc/device-tree.
            ?? line(of: root + "/sys/firmware/devicetree/base/serial-number")
        return ComputerTraits(machineID: line(of: root + "/etc/machine-id"), board: board)
    }
}
