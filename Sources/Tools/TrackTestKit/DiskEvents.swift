/// What happened to the files of a simulated disk, for a checker beside the program that uses the disk.
package struct DiskEvents: Sendable {
    /// Calls to open a file only for reading, to measure it or to read it, that failed; by path.
    package private(set) var refusals: [String: Int] = [:]
    /// Files that lost their name or their end, with what they held before.
    package private(set) var losses: [(path: String, bytes: [UInt8])] = []

    package init() {}

    mutating func refused(_ path: String) { refusals[path, default: 0] += 1 }
    mutating func lost(_ bytes: [UInt8], of path: String) { losses.append((path, bytes)) }
}
