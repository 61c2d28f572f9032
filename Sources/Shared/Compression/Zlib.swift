internal import CZlib

/// Why bytes could not be compressed or decompressed.
package struct CompressionError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The bytes are not one complete zlib stream, or more bytes follow the stream.
        case malformed
        /// The result is larger than the caller allows.
        case tooLarge
        case outOfMemory
    }

    package let code: Code

    package var description: String {
        switch code {
        case .malformed: "the bytes are not one complete zlib stream"
        case .tooLarge: "the decompressed bytes exceed the limit"
        case .outOfMemory: "zlib could not allocate its state"
        }
    }
}

/// Compresses and decompresses whole zlib streams (RFC 1950) in memory.
package enum Zlib {
    /// Compresses to one zlib stream; `level` is 1 (fast) ... 9 (small).
    package static func compress(_ bytes: [UInt8], level: Int32 = 9) throws(CompressionError) -> [UInt8] {
        var size = compressBound(UInt(bytes.count))
        let capacity = Int(size)
        var code = Z_OK
        let output = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            code = unsafe bytes.withUnsafeBufferPointer { input in
                unsafe compress2(buffer.baseAddress, &size, input.baseAddress, UInt(input.count), level)
            }
            count = code == Z_OK ? Int(size) : 0
        }
        guard code == Z_OK else { throw CompressionError(code: .outOfMemory) }
        return output
    }

    /// Decompresses exactly one zlib stream. Never produces or allocates more than `limit` bytes.
    package static func decompress(_ bytes: [UInt8], limit: Int) throws(CompressionError) -> [UInt8] {
        var stream = unsafe z_stream()
        guard unsafe inflateInit_(&stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw CompressionError(code: .outOfMemory)
        }
        defer { unsafe _ = inflateEnd(&stream) }
        var output: [UInt8] = []
        // A stream expands at most 1032 times. A start near the usual ratio needs only one allocation in most calls.
        var capacity = max(64, min(limit, bytes.count &* 4))
        var input = bytes
        var consumed = 0
        while true {
            var code = Z_OK
            let chunk = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                unsafe input.withUnsafeMutableBufferPointer { source in
                    unsafe stream.next_in = source.baseAddress.map { unsafe $0 + consumed }
                    unsafe stream.avail_in = UInt32(source.count - consumed)
                    unsafe stream.next_out = buffer.baseAddress
                    unsafe stream.avail_out = UInt32(capacity)
                    code = unsafe inflate(&stream, Z_NO_FLUSH)
                    consumed = unsafe source.count - Int(stream.avail_in)
                    count = unsafe capacity - Int(stream.avail_out)
                }
            }
            guard output.count + chunk.count <= limit else { throw CompressionError(code: .tooLarge) }
            if output.isEmpty { output = chunk } else { output += chunk }
            switch code {
            case Z_STREAM_END:
                guard consumed == bytes.count else { throw CompressionError(code: .malformed) }
                return output
            case Z_OK where chunk.count == capacity:
                // One byte beyond the limit is enough to see that the limit is exceeded.
                capacity = min(max(capacity, 4096), limit - output.count + 1)
            case Z_MEM_ERROR:
                throw CompressionError(code: .outOfMemory)
            default:
                throw CompressionError(code: .malformed)
            }
        }
    }
}

/// Compresses bytes piece by piece to one raw deflate stream (RFC 1951), as a zip file holds it.
@safe package struct Deflater: ~Copyable {
    /// zlib keeps this address in its own state, so the structure must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var piece = [UInt8](repeating: 0, count: 65_536)

    /// `level` is 1 (fast) ... 9 (small).
    package init(level: Int32) throws(CompressionError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // A negative window says that neither zlib's header nor its checksum stands around the stream.
        let code = unsafe deflateInit2_(
            stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else {
            unsafe stream.deallocate()
            throw CompressionError(code: .outOfMemory)
        }
    }

    deinit {
        unsafe _ = deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Appends to `output` what zlib gives back for these bytes: nothing, or something, and with `isLast` the rest of the
    /// stream. After that call no other may follow.
    package mutating func compress(_ bytes: [UInt8], isLast: Bool = false, to output: inout [UInt8]) {
        var bytes = bytes
        unsafe bytes.withUnsafeMutableBufferPointer { input in
            unsafe stream.pointee.next_in = input.baseAddress
            unsafe stream.pointee.avail_in = UInt32(input.count)
            var isDone = false
            while !isDone {
                let count = unsafe piece.withUnsafeMutableBufferPointer { room in
                    unsafe stream.pointee.next_out = room.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(room.count)
                    unsafe _ = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    return unsafe room.count - Int(stream.pointee.avail_out)
                }
                output += piece[..<count]
                // With room left in the piece, zlib has taken everything.
                isDone = count < piece.count
            }
        }
    }
}

/// Decompresses one raw deflate stream (RFC 1951) piece by piece.
@safe package struct Inflater: ~Copyable {
    /// zlib keeps this address in its own state, so the structure must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var piece = [UInt8](repeating: 0, count: 65_536)
    private var input: [UInt8] = []
    private var consumed = 0
    /// The stream has ended: no more bytes belong to it.
    package private(set) var hasEnded = false

    package init() throws(CompressionError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // A negative window: neither zlib's header nor its checksum stands around the stream.
        let code = unsafe inflateInit2_(stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else {
            unsafe stream.deallocate()
            throw CompressionError(code: .outOfMemory)
        }
    }

    deinit {
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// The next bytes of the stream. Drops what ``next()`` has not taken of the ones before.
    package mutating func feed(_ bytes: [UInt8]) { (input, consumed) = (bytes, 0) }

    /// What comes next out of the stream, 64 KiB at most: a small file can become a very large one. Nil when it wants more
    /// bytes, or has ended.
    package mutating func next() throws(CompressionError) -> [UInt8]? {
        guard !hasEnded else { return nil }
        var code = Z_OK
        let count = unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe stream.pointee.next_in = input.baseAddress.map { unsafe $0 + consumed }
            unsafe stream.pointee.avail_in = UInt32(input.count - consumed)
            let count = unsafe piece.withUnsafeMutableBufferPointer { room in
                unsafe stream.pointee.next_out = room.baseAddress
                unsafe stream.pointee.avail_out = UInt32(room.count)
                code = unsafe inflate(stream, Z_NO_FLUSH)
                return unsafe room.count - Int(stream.pointee.avail_out)
            }
            consumed = unsafe input.count - Int(stream.pointee.avail_in)
            return count
        }
        switch code {
        case Z_STREAM_END: hasEnded = true
        case Z_OK, Z_BUF_ERROR: break
        case Z_MEM_ERROR: throw CompressionError(code: .outOfMemory)
        default: throw CompressionError(code: .malformed)
        }
        return count > 0 ? Array(piece[..<count]) : nil
    }
}

/// CRC-32 as zlib and gzip compute it (polynomial 0xEDB88320, reflected). Continues `previous`, the CRC-32 of earlier
/// bytes.
package func crc32(_ bytes: UnsafeRawBufferPointer, continuing previous: UInt32 = 0) -> UInt32 {
    // For a nil pointer zlib returns its initial value, which would forget `previous`.
    guard let base = bytes.baseAddress else { return previous }
    let sum = unsafe crc32_z(UInt(previous), base.assumingMemoryBound(to: UInt8.self), bytes.count)
    return UInt32(truncatingIfNeeded: sum)
}

/// CRC-32 as zlib and gzip compute it.
package func crc32(_ bytes: some Collection<UInt8>, continuing previous: UInt32 = 0) -> UInt32 {
    let contiguous = bytes.withContiguousStorageIfAvailable {
        unsafe crc32(UnsafeRawBufferPointer($0), continuing: previous)
    }
    if let contiguous { return contiguous }
    return unsafe Array(bytes).withUnsafeBytes { unsafe crc32($0, continuing: previous) }
}
