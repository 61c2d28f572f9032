internal import CZlib

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
