internal import AlarmLog
internal import JSON
internal import TrackCache

/// The file of the ``ComputerNote``: JSON, replaced whole. Both calls may block.
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
    func read() -> ComputerNote? {
        guard let file = try? files.openFile(path, .readOnly) else { return nil }
        defer { files.close(file) }
        guard let bytes = try? files.bytes(of: file, at: 0, count: Self.maximumBytes),
            let note: ComputerNote = try? JSONReader.value(of: bytes).decoded(), note.version == 1
        else { return nil }
        return note
    }

    /// Durable on return. Returns why it failed, a sentence; nil when the note is on the disk.
    func write(_ note: ComputerNote) -> String? {
        guard let value = try? JSONValue(encoding: note) else { return "\(path): the note cannot be encoded" }
        do throws(CacheFileError) {
            try files.replaceFile(path, in: directory, with: Array("\(value)\n".utf8))
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }
}
