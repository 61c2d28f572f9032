package import Geofencing

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

    /// `isKnown`: a fence was made from the same bytes before.
    ///
    /// - Throws: ``MemoryCodingError`` for bytes that no version of this program wrote.
    init(number: Int32, encoded bytes: [UInt8], isKnown: Bool) throws(MemoryCodingError)
}

/// Fences by their numbers, each as the bytes that the disk has of it.
///
/// A fence to work with takes several times as much memory as its bytes, and a vehicle may have thousands. So a fence is
/// made when somebody asks for it.
package struct Kept<Value: KeepableFence>: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        let bytes: [UInt8]
        let facts: Value.Facts
        let vertices: Int
    }

    private var entries: [Int32: Entry] = [:]
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
    package var numbers: [Int32] { entries.keys.sorted() }
    /// Of all fences.
    package var facts: some Sequence<Value.Facts> { entries.values.lazy.map(\.facts) }

    package func contains(_ number: Int32) -> Bool { entries[number] != nil }

    /// Nil when there is none of this number.
    package func facts(of number: Int32) -> Value.Facts? { entries[number]?.facts }

    package func encoded(_ number: Int32) -> [UInt8]? { entries[number]?.bytes }

    package subscript(number: Int32) -> Value? {
        get {
            // What was a fence when it was put in is one.
            entries[number].flatMap { try? Value(number: number, encoded: $0.bytes, isKnown: true) }
        }
        set {
            remove(number)
            if let newValue { put(newValue, as: newValue.encoded) }
        }
    }

    /// Adds a fence that the disk has given.
    ///
    /// - Throws: ``MemoryCodingError`` for bytes that no version of this program wrote.
    package mutating func add(_ number: Int32, encoded bytes: [UInt8]) throws(MemoryCodingError) {
        let fence = try Value(number: number, encoded: bytes, isKnown: false)
        remove(number)
        put(fence, as: bytes)
    }

    private mutating func put(_ fence: Value, as encoded: [UInt8]) {
        // Growing has left room that would stay.
        let encoded = encoded.withUnsafeBufferPointer { Array($0) }
        entries[fence.number] = Entry(bytes: encoded, facts: fence.facts, vertices: fence.vertexCount)
        bytes += encoded.count
        vertices += fence.vertexCount
    }

    private mutating func remove(_ number: Int32) {
        guard let gone = entries.removeValue(forKey: number) else { return }
        bytes -= gone.bytes.count
        vertices -= gone.vertices
    }
}

/// The box's own fences.
package typealias KeptFences = Kept<LocalFence>

extension Kept where Value == LocalFence {
    /// Whom the fence watches; nil when there is none of this number.
    package func watch(of number: Int32) -> FenceWatch? { facts(of: number) }
}
