internal import Glibc
internal import JSON
package import TrackCache

/// The file of the remembered state: JSON, replaced whole. Every call may block; the calls are made on one thread at a time.
package struct StateFile {
    private let files: any CacheFileSystem
    private let directory: String

    /// The seam of the file system is the ring's, so that one simulated disk can fail under both.
    package init(directory: String, files: any CacheFileSystem = POSIXFileSystem()) {
        self.directory = directory
        self.files = files
    }

    package var path: String { directory + "/state.json" }

    /// Bytes; the file has a few hundred, with all the columns there may be some 20,000.
    private static let maximumBytes = 65_536

    package func read() -> RememberedStateReading {
        let bytes: [UInt8]
        do throws(CacheFileError) {
            let file = try files.openFile(path, .readOnly)
            defer { files.close(file) }
            bytes = try files.bytes(of: file, at: 0, count: Self.maximumBytes)
        } catch {
            if error.operation == .open, error.number == ENOENT { return .absent }
            return .unreadable("\(path): \(error)")
        }
        let state: RememberedState? = try? JSONReader.value(of: bytes).decoded()
        guard let state, state.version == 1 else {
            let aside = path + ".damaged"
            try? files.rename(path, to: aside)
            return .putAside(aside)
        }
        return .read(state)
    }

    /// Durable on return, wholly or not at all: a power cut leaves the old file or the new one. Returns why it failed, a
    /// sentence; nil when the state is on the disk.
    package func write(_ state: RememberedState) -> String? {
        guard let value = try? JSONValue(encoding: state) else { return "\(path): the state cannot be encoded" }
        do throws(CacheFileError) {
            try replace(with: Array("\(value)\n".utf8))
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }

    private func replace(with bytes: [UInt8]) throws(CacheFileError) {
        let temporary = path + ".new"
        do throws(CacheFileError) {
            let file = try files.openFile(temporary, .replace)
            defer { files.close(file) }
            try files.writeFully(file, bytes, at: 0)
            try files.synchronizeFile(file, dataOnly: true)
            try files.rename(temporary, to: path)
        } catch {
            try? files.unlink(temporary)
            throw error
        }
        try files.synchronizeNames(in: directory)
    }
}
