package import TrackCache

/// Calls that a simulated disk refuses.
package struct DiskFault: Hashable, Sendable {
    /// Nil: every operation.
    package var operations: Set<CacheFileError.Operation>?
    /// Matching calls that still work before.
    package var after: Int
    /// Matching calls that fail then.
    package var times: Int
    /// `errno`, for example 28 for `ENOSPC`, 5 for `EIO`.
    package var number: Int32

    package init(
        _ operations: Set<CacheFileError.Operation>? = nil, after: Int = 0, times: Int = .max, number: Int32
    ) {
        self.operations = operations
        self.after = after
        self.times = times
        self.number = number
    }

    /// Whether this call fails; counts it.
    mutating func strikes(_ operation: CacheFileError.Operation) -> Bool {
        guard operations?.contains(operation) ?? true else { return false }
        if after > 0 {
            after -= 1
            return false
        }
        guard times > 0 else { return false }
        if times < .max { times -= 1 }
        return true
    }
}
