package import Geofencing

/// Fences by their numbers, each as the bytes that the disk has of it.
///
/// A fence to work with takes several times as much memory as its bytes, and a vehicle may have thousands. So a fence is
/// made when somebody asks for it.
package struct KeptFences: Hashable, Sendable {
    private struct Kept: Hashable, Sendable {
        let bytes: [UInt8]
        let watch: FenceWatch
        let vertices: Int
    }

    private var kept: [Int32: Kept] = [:]
    /// Of all fences together, as they are on the disk.
    private(set) var bytes = 0
    /// Of all fences together.
    private(set) var vertices = 0

    package init(_ fences: [LocalFence] = []) {
        for fence in fences { self[fence.fence.id] = fence }
    }

    package var count: Int { kept.count }
    package var isEmpty: Bool { kept.isEmpty }
    /// Ascending.
    package var numbers: [Int32] { kept.keys.sorted() }

    package func contains(_ number: Int32) -> Bool { kept[number] != nil }

    /// Whom the fence watches; nil when there is none of this number.
    package func watch(of number: Int32) -> FenceWatch? { kept[number]?.watch }

    package func encoded(_ number: Int32) -> [UInt8]? { kept[number]?.bytes }

    package subscript(number: Int32) -> LocalFence? {
        get {
            // What was a fence when it was put in is one.
            kept[number].flatMap { try? LocalFence(number: number, encoded: $0.bytes, isKnown: true) }
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
        let fence = try LocalFence(number: number, encoded: bytes)
        remove(number)
        put(fence, as: bytes)
    }

    private mutating func put(_ fence: LocalFence, as encoded: [UInt8]) {
        // Growing has left room that would stay.
        let encoded = encoded.withUnsafeBufferPointer { Array($0) }
        kept[fence.fence.id] = Kept(bytes: encoded, watch: fence.fence.definition.watch, vertices: fence.vertexCount)
        bytes += encoded.count
        vertices += fence.vertexCount
    }

    private mutating func remove(_ number: Int32) {
        guard let gone = kept.removeValue(forKey: number) else { return }
        bytes -= gone.bytes.count
        vertices -= gone.vertices
    }
}
