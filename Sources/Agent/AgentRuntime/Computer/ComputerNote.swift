internal import SecureLink
internal import TrackModel

/// On which computer the agent ran last, as it is noted beside the ring.
struct ComputerNote: Codable, Hashable, Sendable {
    var version = 1
    /// ``ComputerTraits/mark(of:)``
    var mark: String
    /// Of ``ComputerTraits/Parts``: what the mark is made of.
    var parts: UInt8
    /// The stream that another computer has too, 32 hexadecimal digits, until the ring has left it; nil: there is none.
    var leaving: String?
}

/// What follows from the note and the computer that the agent runs on now. Knows no file.
struct ComputerVerdict: Hashable {
    /// The disk was in another computer when the agent ran last, and its stream is still that computer's.
    var isMoved = false
    /// It is found out now, and not by an earlier process.
    var isNews = false
    /// To be written; nil: what is noted stays.
    var note: ComputerNote?

    /// `stream`: the one on the disk.
    ///
    /// Marks of different parts say nothing about each other. So a note of fewer parts is compared with a mark of these parts and
    /// then made anew from all, and a note of more parts stays as it is.
    init(_ noted: ComputerNote?, _ traits: ComputerTraits, stream: StreamID) throws(SecureLinkError) {
        guard !traits.parts.isEmpty else { return }
        let name = stream.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let own = ComputerNote(mark: try traits.mark(), parts: traits.parts.rawValue)
        guard let noted else {
            note = own
            return
        }
        let parts = ComputerTraits.Parts(rawValue: noted.parts)
        var next = noted
        if !parts.isEmpty, traits.parts.isSuperset(of: parts) {
            let isSame = try traits.mark(of: parts) == noted.mark
            (next.mark, next.parts) = (own.mark, own.parts)
            if !isSame {
                next.leaving = name
                isNews = true
            }
        }
        if next.leaving != name { next.leaving = nil }
        isMoved = next.leaving != nil
        note = next == noted ? nil : next
    }
}
