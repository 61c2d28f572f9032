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
