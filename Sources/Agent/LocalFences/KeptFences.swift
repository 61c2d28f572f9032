package import Geofencing
internal import TrackModel

/// A fence that ``Kept`` can hold as bytes.
package protocol KeepableFence: Hashable, Sendable {
    /// What is asked of every fence of a set: it is held beside the bytes.
    associatedtype Facts: Hashable, Sendable

    var number: Int32 { get }
    var facts: Facts { get }
    /// Of its shape, as given.
    var vertexCount: Int { get }
    /// As it is on the disk.
    var encoded: [UInt8] { get }
    /// Where in ``encoded`` the bytes of ``Fence/encoded`` begin; they go to the end.
    var fenceStart: Int { get }

    /// Bytes of ``encoded`` in which all times stand before which no point is judged, at most.
    static var mostTimeBytes: Int { get }
    /// Where these times begin in ``encoded``: milliseconds, 8 bytes each. `head`: the first ``mostTimeBytes`` of it.
    static func times(in head: [UInt8]) -> [Int]

    /// `isKnown`: a fence was made from the same bytes before.
    ///
    /// - Throws: ``FenceStateCodingError`` for bytes that no version of this program wrote.
    init(number: Int32, encoded bytes: [UInt8], isKnown: Bool) throws(FenceStateCodingError)
}

/// Fences by their numbers, each as the bytes that the disk has of it, packed.
///
/// A fence to work with takes several times as much memory as its bytes, and a vehicle may have thousands. So a fence is
/// made when somebody asks for it.
package struct Kept<Value: KeepableFence>: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        let number: Int32
        /// At most the bound of one fence.
        let vertices: Int32
        var bytes: FenceBytes
        let facts: Value.Facts
    }

    /// Ascending by number. A dictionary would take two to three times as much memory, and most fences are added in this order.
    private var entries: [Entry] = []
    /// Of all fences together, as they are on the disk.
    private(set) var bytes = 0
    /// Of all fences together.
    private(set) var vertices = 0

    package init(_ fences: [Value] = []) {
        for fence in fences { self[fence.number] = fence }
    }

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }
    /// Ascending.
    package var numbers: [Int32] { entries.map(\.number) }
    /// Of all fences.
    package var facts: some Sequence<Value.Facts> { entries.lazy.map(\.facts) }

    package func contains(_ number: Int32) -> Bool { entry(number) != nil }

    /// Nil when there is none of this number.
    package func facts(of number: Int32) -> Value.Facts? { entry(number)?.facts }

    package func encoded(_ number: Int32) -> [UInt8]? { entry(number)?.bytes.encoded }

    package subscript(number: Int32) -> Value? {
        get {
            // What was a fence when it was put in is one.
            entry(number).flatMap { try? Value(number: number, encoded: $0.bytes.encoded, isKnown: true) }
        }
        set {
            remove(number)
            if let newValue { put(newValue, as: newValue.encoded) }
        }
    }

    /// Adds a fence that the disk has given.
    ///
    /// - Throws: ``FenceStateCodingError`` for bytes that no version of this program wrote.
    package mutating func add(_ number: Int32, encoded bytes: [UInt8]) throws(FenceStateCodingError) {
        put(try Value(number: number, encoded: bytes, isKnown: false), as: bytes)
    }

    /// Puts other bytes in the place of those that begin at `start` of what the disk has of a fence, and makes no fence of them. Its
    /// facts stay, so they must not depend on these bytes.
    mutating func replace(_ number: Int32, from start: Int, with bytes: [UInt8]) {
        let place = place(of: number)
        guard place < entries.count, entries[place].number == number else { return }
        let isReplaced = entries[place].bytes.replace(from: start, with: bytes)
        assert(isReplaced, "bytes \(start) and following of fence \(number) are packed with others")
    }

    /// No time before which a fence judges no point lies behind this one: a later date was wrong. No fence is made for that.
    ///
    /// - Returns: whether there was such a fence.
    mutating func begin(by time: Timestamp) -> Bool {
        var (hasChanged, limit): (Bool, [UInt8]) = (false, [])
        limit.append(fixed: time.milliseconds)
        for index in entries.indices {
            let head = Array(entries[index].bytes.head(Value.mostTimeBytes))
            for place in Value.times(in: head) {
                var stored = FixedBytes(Array(head[place..<place + 8]), of: "a time")
                guard let stored: Int64 = try? stored.integer(), stored > time.milliseconds else { continue }
                hasChanged = entries[index].bytes.replace(from: place, with: limit) || hasChanged
            }
        }
        return hasChanged
    }

    private mutating func put(_ fence: Value, as encoded: [UInt8]) {
        remove(fence.number)
        entries.insert(
            Entry(
                number: fence.number, vertices: Int32(clamping: fence.vertexCount),
                bytes: FenceBytes(encoded, fenceStart: fence.fenceStart), facts: fence.facts),
            at: place(of: fence.number))
        bytes += encoded.count
        vertices += Int(Int32(clamping: fence.vertexCount))
    }

    private mutating func remove(_ number: Int32) {
        let place = place(of: number)
        guard place < entries.count, entries[place].number == number else { return }
        let gone = entries.remove(at: place)
        bytes -= gone.bytes.count
        vertices -= Int(gone.vertices)
    }

    private func entry(_ number: Int32) -> Entry? {
        let place = place(of: number)
        return place < entries.count && entries[place].number == number ? entries[place] : nil
    }

    /// Of the first entry whose number is not below this one.
    private func place(of number: Int32) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The box's own fences.
package typealias KeptFences = Kept<LocalFence>

extension Kept where Value == LocalFence {
    /// Whom the fence watches; nil when there is none of this number.
    package func watch(of number: Int32) -> FenceSubjects? { facts(of: number) }
}

/// Reads numbers of fixed length, the lowest byte first.
struct FixedBytes {
    private var rest: ArraySlice<UInt8>
    private let what: String

    /// `what`: for errors.
    init(_ bytes: [UInt8], of what: String) {
        rest = bytes[...]
        self.what = what
    }

    var remaining: [UInt8] { Array(rest) }

    mutating func take(_ count: Int) throws(FenceStateCodingError) -> ArraySlice<UInt8> {
        guard count >= 0, rest.count >= count else {
            throw FenceStateCodingError(description: "\(what) ends too early")
        }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func integer<Integer: FixedWidthInteger>(_: Integer.Type = Integer.self) throws(FenceStateCodingError)
        -> Integer
    {
        try take(Integer.bitWidth / 8).reversed().reduce(Integer.zero) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
    }

    /// Bytes behind their number.
    mutating func counted() throws(FenceStateCodingError) -> [UInt8] {
        Array(try take(Int(try integer(UInt32.self))))
    }

    mutating func text() throws(FenceStateCodingError) -> String {
        guard let text = String(validating: try counted(), as: UTF8.self) else {
            throw FenceStateCodingError(description: "\(what) has a text that is not UTF-8")
        }
        return text
    }
}

extension [UInt8] {
    mutating func append(fixed number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Bytes behind their number.
    mutating func append(counted bytes: some Collection<UInt8>) {
        append(fixed: UInt32(clamping: bytes.count))
        append(contentsOf: bytes)
    }
}
