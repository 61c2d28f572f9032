internal import Compression
package import DiskRing

/// The box's own fences on disk: one file, replaced whole. What a fence is, the file does not know.
///
/// Every call may block; the calls are made on one thread at a time. Format: docs/formats/fences.md.
package struct FenceFile {
    package struct StoredFence: Hashable, Sendable {
        /// Positive.
        package var number: Int32
        package var bytes: [UInt8]

        package init(number: Int32, bytes: [UInt8]) {
            self.number = number
            self.bytes = bytes
        }
    }

    package enum Reading: Hashable, Sendable {
        case absent
        /// The number of the next fence: no number is used twice.
        case read(nextFence: Int32)
        /// The file is damaged and was put aside under this name. `lost`: fences that are damaged, as far as they can be
        /// counted.
        case damaged(nextFence: Int32, lost: Int, aside: String)
        /// The disk refuses to read it; a sentence.
        case unreadable(String)
    }

    private static let magic: [UInt8] = Array("SAKER-FE".utf8)
    private static let version: UInt16 = 1
    private static let headerBytes = 32
    private static let recordBytes = 12
    /// Bytes of one fence, and of the file. A larger file is foreign.
    package static let maximumFenceBytes = 4 << 20
    package static let maximumBytes = 64 << 20

    private let files: any CacheFileSystem
    private let directory: String

    package init(directory: String, files: any CacheFileSystem = POSIXFileSystem()) {
        self.directory = directory
        self.files = files
    }

    package var path: String { directory + "/fences.data" }

    // MARK: Reading

    /// Gives the sound fences to `take` in the order of their numbers, one at a time: 10,000 together would leave holes in
    /// the memory of the process for ever. `take` returns whether it understands a fence; one that it does not understand
    /// counts as damaged.
    package func read(_ take: (StoredFence) -> Bool) -> Reading {
        let bytes: [UInt8]
        do throws(CacheFileError) {
            let file = try files.openFile(path, .readOnly)
            defer { files.close(file) }
            bytes = try files.bytes(of: file, at: 0, count: min(try files.size(of: file), Self.maximumBytes + 1))
        } catch {
            if error.operation == .open, error.number == CacheFileError.notThere { return .absent }
            return .unreadable("\(path): \(error)")
        }
        let (nextFence, lost) = Self.decode(bytes, take)
        guard let lost else { return .read(nextFence: nextFence) }
        let aside = path + ".damaged"
        do throws(CacheFileError) {
            try files.rename(path, to: aside)
        } catch {
            // Whoever writes the file now would write over what is damaged.
            return .unreadable("\(path) is damaged and cannot be put aside: \(error)")
        }
        return .damaged(nextFence: nextFence, lost: lost, aside: aside)
    }

    /// As ``read(_:)``; `lost` is nil when everything is sound.
    static func decode(_ bytes: [UInt8], _ take: (StoredFence) -> Bool) -> (nextFence: Int32, lost: Int?) {
        guard bytes.count >= headerBytes, bytes.count <= maximumBytes, bytes.starts(with: magic),
            bytes.integer(at: 8) == version, bytes.integer(at: 12) == headerSum(bytes)
        else { return (1, 0) }
        let next: Int32 = bytes.integer(at: 16)
        let count = Int(bytes.integer(at: 20, as: UInt32.self))
        var (offset, last, found, refused) = (headerBytes, Int32(0), 0, 0)
        while offset + recordBytes <= bytes.count {
            let length = Int(bytes.integer(at: offset, as: UInt32.self))
            guard (recordBytes...(recordBytes + maximumFenceBytes)).contains(length), offset + length <= bytes.count
            else { break }
            let record = bytes[offset..<(offset + length)]
            let number: Int32 = bytes.integer(at: offset + 8)
            if bytes.integer(at: offset + 4) == sum(record), number > last {
                (last, found) = (number, found + 1)
                if !take(StoredFence(number: number, bytes: Array(record.dropFirst(recordBytes)))) { refused += 1 }
            }
            offset += length
        }
        let isWhole = offset == bytes.count && found == count && next > last && refused == 0
        let nextFence = last < .max ? max(next, last + 1) : max(next, 1)
        return (nextFence, isWhole ? nil : max(0, count - found) + refused)
    }

    // MARK: Writing

    /// Durable on return, wholly or not at all: a power cut leaves the old file or the new one. Returns why it failed, a
    /// sentence; nil when the fences are on the disk. `fences`: in the order of their numbers.
    package func write(_ fences: some Collection<StoredFence>, nextFence: Int32) -> String? {
        let bytes = Self.encode(fences, nextFence: nextFence)
        guard bytes.count <= Self.maximumBytes else {
            return "\(path): the fences have \(bytes.count) bytes, and the file has at most \(Self.maximumBytes)"
        }
        do throws(CacheFileError) {
            try files.replaceFile(path, in: directory, with: bytes)
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }

    static func encode(_ fences: some Collection<StoredFence>, nextFence: Int32) -> [UInt8] {
        var bytes = magic
        bytes.appendInteger(version)
        bytes.appendInteger(UInt16(0))
        bytes.appendInteger(UInt32(0))
        bytes.appendInteger(nextFence)
        bytes.appendInteger(UInt32(fences.count))
        bytes.appendInteger(UInt64(0))
        bytes.setInteger(headerSum(bytes), at: 12)
        for fence in fences {
            let start = bytes.count
            bytes.appendInteger(UInt32(recordBytes + fence.bytes.count))
            bytes.appendInteger(UInt32(0))
            bytes.appendInteger(fence.number)
            bytes += fence.bytes
            bytes.setInteger(sum(bytes[start...]), at: start + 4)
        }
        return bytes
    }

    private static func headerSum(_ bytes: [UInt8]) -> UInt32 {
        crc32(bytes[16..<headerBytes], continuing: crc32(bytes[..<12]))
    }

    /// The CRC-32 of the record without the checksum field.
    private static func sum(_ record: ArraySlice<UInt8>) -> UInt32 {
        let start = record.startIndex
        return crc32(record[(start + 8)...], continuing: crc32(record[start..<(start + 4)]))
    }
}

/// The server's fences on disk: one file, replaced whole, with one checksum. A damaged file is worth nothing: the server
/// sends its fences again. What stands in it, the file does not know.
///
/// Every call may block; the calls are made on one thread at a time. Format: docs/formats/fences.md.
package struct ServerFenceFile {
    package enum Reading: Hashable, Sendable {
        case absent
        case read([UInt8])
        /// The file is damaged, or of a later version.
        case damaged
        /// The disk refuses to read it; a sentence.
        case unreadable(String)
    }

    private static let magic: [UInt8] = Array("SAKER-SF".utf8)
    private static let version: UInt16 = 1
    private static let headerBytes = 24
    /// A larger file is foreign.
    package static let maximumBytes = 64 << 20

    private let files: any CacheFileSystem
    private let directory: String

    package init(directory: String, files: any CacheFileSystem = POSIXFileSystem()) {
        self.directory = directory
        self.files = files
    }

    package var path: String { directory + "/server-fences.data" }

    package func read() -> Reading {
        do throws(CacheFileError) {
            let file = try files.openFile(path, .readOnly)
            defer { files.close(file) }
            let bytes = try files.bytes(
                of: file, at: 0, count: min(try files.size(of: file), Self.maximumBytes + 1))
            return Self.decode(bytes).map(Reading.read) ?? .damaged
        } catch {
            if error.operation == .open, error.number == CacheFileError.notThere { return .absent }
            return .unreadable("\(path): \(error)")
        }
    }

    /// Durable on return, wholly or not at all: a power cut leaves the old file or the new one. Returns why it failed, a
    /// sentence; nil when the content is on the disk.
    package func write(_ content: [UInt8]) -> String? {
        guard content.count <= Self.maximumBytes - Self.headerBytes else {
            return "\(path): the fences have \(content.count) bytes, and the file has at most \(Self.maximumBytes)"
        }
        do throws(CacheFileError) {
            try files.replaceFile(path, in: directory, with: Self.encode(content))
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }

    static func encode(_ content: [UInt8]) -> [UInt8] {
        var bytes = magic
        bytes.appendInteger(version)
        bytes.appendInteger(UInt16(0))
        bytes.appendInteger(UInt32(0))
        bytes.appendInteger(UInt64(content.count))
        bytes += content
        bytes.setInteger(sum(bytes), at: 12)
        return bytes
    }

    static func decode(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= headerBytes, bytes.count <= maximumBytes, bytes.starts(with: magic),
            bytes.integer(at: 8) == version, bytes.integer(at: 16) == UInt64(bytes.count - headerBytes),
            bytes.integer(at: 12) == sum(bytes)
        else { return nil }
        return Array(bytes[headerBytes...])
    }

    /// The CRC-32 of the file without the checksum field.
    private static func sum(_ bytes: [UInt8]) -> UInt32 {
        crc32(bytes[16...], continuing: crc32(bytes[..<12]))
    }
}

extension CacheFileSystem {
    /// Replaces a file whole, durably: a power cut leaves the old file or the new one. Makes the directory if it is missing.
    package func replaceFile(_ path: String, in directory: String, with bytes: [UInt8]) throws(CacheFileError) {
        do throws(CacheFileError) {
            try makeDirectory(directory)
        } catch {
            guard error.number == CacheFileError.existsAlready else { throw error }
        }
        let temporary = path + ".new"
        do throws(CacheFileError) {
            let file = try openFile(temporary, .replace)
            defer { close(file) }
            try writeFully(file, bytes, at: 0)
            try synchronizeFile(file, dataOnly: false)
            try rename(temporary, to: path)
        } catch {
            // A full disk needs the bytes of this file.
            try? unlink(temporary)
            throw error
        }
        try synchronizeNames(in: directory)
    }
}
