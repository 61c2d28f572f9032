internal import FenceJSON
internal import Geofencing
internal import JSON
internal import TrackModel

/// Fences as JSON lines, in pieces of a size that fits into a message.
///
/// A position names the next fence, and the place in its line: `15.3.1772670030000.262144` is the fence 15 in its third
/// revision.
package enum FenceExport {
    /// The most bytes of a piece.
    package static let pieceBytes = 256 * 1024

    package struct Piece: Hashable, Sendable {
        package var text: String
        /// Nil after the last.
        package var position: String?
    }

    /// `fences`: those that are wanted, in the order of their numbers.
    ///
    /// - Throws: ``FenceRefusal`` for a position that is none, or whose fence has changed.
    package static func piece(
        of fences: [LocalFence], from position: String?, most: Int = pieceBytes
    ) throws(FenceRefusal) -> Piece {
        var (bytes, rest) = ([UInt8](), fences[...])
        if let position {
            let start = try Position(position)
            rest = rest.drop { $0.fence.id < start.fence }
            if start.offset > 0 {
                guard let first = rest.first, start == Position(first.fence, offset: start.offset) else {
                    throw FenceRefusal(
                        .text, "the fence \(start.fence) has changed since its first part was read: begin anew")
                }
                let line = line(of: first.fence)
                guard start.offset < line.count else { throw Self.none(position) }
                bytes += line[start.offset..<min(line.count, start.offset + most)]
                guard start.offset + bytes.count == line.count else {
                    return whole(bytes, of: first.fence, from: start.offset)
                }
                rest = rest.dropFirst()
            }
        }
        while let next = rest.first {
            guard bytes.count < most else {
                return Piece(text: text(bytes), position: Position(next.fence, offset: 0).text)
            }
            let line = line(of: next.fence)
            if bytes.count + line.count > most {
                // A line is cut only when it is too long for a piece of its own.
                guard bytes.isEmpty else {
                    return Piece(text: text(bytes), position: Position(next.fence, offset: 0).text)
                }
                return whole(Array(line.prefix(most)), of: next.fence, from: 0)
            }
            bytes += line
            rest = rest.dropFirst()
        }
        return Piece(text: text(bytes), position: nil)
    }

    /// A piece of one line that goes on behind it. It ends before a character, not inside one.
    private static func whole(_ bytes: [UInt8], of fence: Fence, from offset: Int) -> Piece {
        var bytes = bytes
        while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
        if let last = bytes.last, last & 0xC0 == 0xC0 { bytes.removeLast() }
        return Piece(text: text(bytes), position: Position(fence, offset: offset + bytes.count).text)
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func none(_ position: String) -> FenceRefusal {
        FenceRefusal(
            .text, "\(FenceJSONError.quoted(position)) is no position: give the one of the last reply, or none to begin"
        )
    }

    private static func line(of fence: Fence) -> [UInt8] {
        let value: JSONValue = [
            "id": .integer(Int64(fence.id)), "revision": .integer(Int64(fence.revision)),
            "created": .integer(fence.created.milliseconds), "modified": .integer(fence.modified.milliseconds),
            "fence": fence.definition.json,
        ]
        return value.serialized() + [UInt8(ascii: "\n")]
    }

    private struct Position: Hashable {
        let fence: Int32
        let revision: Int32
        let modified: Int64
        let offset: Int

        init(_ fence: Fence, offset: Int) {
            self.fence = fence.id
            revision = fence.revision
            modified = fence.modified.milliseconds
            self.offset = offset
        }

        init(_ text: String) throws(FenceRefusal) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 4, let fence = Int32(parts[0]), let revision = Int32(parts[1]),
                let modified = Int64(parts[2]), let offset = Int(parts[3]), offset >= 0
            else { throw FenceExport.none(text) }
            (self.fence, self.revision, self.modified, self.offset) = (fence, revision, modified, offset)
        }

        var text: String { "\(fence).\(revision).\(modified).\(offset)" }
    }
}
