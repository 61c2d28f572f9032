internal import DirectoryAccess
internal import Glibc
internal import Terminal

/// A file that is written beside its place and put there as a whole, or standard output.
package struct OutputFile {
    private final class Place {
        let directory: DirectoryHandle
        let name: FileName
        let temporary: FileName

        init(_ directory: consuming DirectoryHandle, _ name: FileName, _ temporary: FileName) {
            self.directory = directory
            (self.name, self.temporary) = (name, temporary)
        }

        func remove() { try? directory.remove(temporary) }
    }

    private let path: String?
    private let place: Place?
    /// Negative after it was closed.
    private var descriptor: Int32
    private var buffer: [UInt8] = []

    /// Nil writes to standard output.
    package init(_ path: String?) throws(FenceCommandFailure) {
        self.path = path
        guard let path else {
            (place, descriptor) = (nil, STDOUT_FILENO)
            return
        }
        let (folder, name) = DirectoryHandle.parts(of: path)
        do throws(FileTrouble) {
            let directory = try DirectoryHandle(folder)
            let temporary = FileName("\(name).\(getpid()).part")
            descriptor = try directory.create(temporary, mode: 0o666)
            place = Place(directory, FileName(name), temporary)
        } catch {
            throw Self.failure(path, error)
        }
    }

    private static func failure(_ path: String, _ trouble: FileTrouble? = nil) -> FenceCommandFailure {
        let reason = trouble?.reason ?? String(cString: strerror(errno))
        return FenceCommandFailure(.failed, "\(path.printable): cannot be written: \(reason)")
    }

    package mutating func write(_ bytes: some Sequence<UInt8>) throws(FenceCommandFailure) {
        buffer += bytes
        if buffer.count >= 256 * 1024 { try flush() }
    }

    package mutating func write(_ text: String) throws(FenceCommandFailure) { try write(text.utf8) }

    private mutating func flush() throws(FenceCommandFailure) {
        guard path != nil else {
            Output.content(buffer)
            buffer = []
            return
        }
        var rest = buffer[...]
        buffer = []
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw Self.failure(path ?? "")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Puts the file in its place.
    package mutating func finish() throws(FenceCommandFailure) {
        try flush()
        guard let path else { return }
        // Whatever close(2) answers, the number may be another file's from now on.
        let isClosed = close(descriptor) == 0
        descriptor = -1
        guard isClosed else {
            let failure = Self.failure(path)
            place?.remove()
            throw failure
        }
        do throws(FileTrouble) {
            if let place { try place.directory.rename(place.temporary, to: place.name) }
        } catch {
            place?.remove()
            throw Self.failure(path, error)
        }
    }

    /// Leaves nothing behind after a failure.
    package mutating func discard() {
        guard let place, descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        place.remove()
    }
}
