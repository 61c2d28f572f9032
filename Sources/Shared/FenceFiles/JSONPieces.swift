internal import TrackFiles

/// Takes a JSON text apart without knowing what its values mean: the bytes of one value at a time are in memory, and of a
/// value that is too long not even those.
struct JSONPieces {
    /// Brackets inside each other; one bit each is kept.
    static let deepest = 64

    private let source: ByteSource

    init(_ source: ByteSource) {
        self.source = source
    }

    var line: Int { source.line }

    func error(_ detail: String) -> FenceFileError { FenceFileError("line \(line): no JSON: \(detail)") }

    /// The byte after white space, which stays the next.
    func peek() throws(FenceFileError) -> UInt8? {
        do throws(TrackFileError) {
            while let byte = try source.peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                _ = try source.next()
            }
            return try source.peek()
        } catch {
            throw FenceFileError(error)
        }
    }

    /// Takes the byte after white space when it is this one.
    func take(_ scalar: Unicode.Scalar) throws(FenceFileError) -> Bool {
        guard try peek() == UInt8(ascii: scalar) else { return false }
        _ = try next()
        return true
    }

    func expect(_ scalar: Unicode.Scalar) throws(FenceFileError) {
        guard try take(scalar) else {
            throw error(try peek() == nil ? "it ends where '\(scalar)' is expected" : "'\(scalar)' is expected")
        }
    }

    private func next() throws(FenceFileError) -> UInt8? {
        do throws(TrackFileError) {
            return try source.next()
        } catch {
            throw FenceFileError(error)
        }
    }

    private func isAtDelimiter() throws(FenceFileError) -> Bool {
        do throws(TrackFileError) {
            guard let byte = try source.peek() else { return true }
            return byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}")
        } catch {
            throw FenceFileError(error)
        }
    }

    /// The bytes of the next value; nil when there are more of them than `limit`. All of them are passed over.
    func value(limit: Int) throws(FenceFileError) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (isTooLong, depth, kinds) = (false, 0, UInt64(0))
        func keep(_ byte: UInt8) {
            if bytes.count < limit {
                bytes.append(byte)
            } else if !isTooLong {
                isTooLong = true
                bytes = []
            }
        }
        func string() throws(FenceFileError) {
            while let byte = try next() {
                if !isTooLong { keep(byte) }
                if byte == UInt8(ascii: "\\") {
                    guard let escaped = try next() else { break }
                    if !isTooLong { keep(escaped) }
                } else if byte == UInt8(ascii: "\"") {
                    return
                }
            }
            throw error("it ends inside a text")
        }
        guard try peek() != nil else { throw error("it ends where a value is expected") }
        repeat {
            guard let byte = try next() else { throw error("it ends inside a value") }
            if !isTooLong { keep(byte) }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < Self.deepest else { throw error("nested more than \(Self.deepest) levels deep") }
                kinds = kinds << 1 | (byte == UInt8(ascii: "{") ? 1 : 0)
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0, (kinds & 1 == 1) == (byte == UInt8(ascii: "}")) else {
                    throw error("'\(Unicode.Scalar(byte))' closes what was not opened")
                }
                kinds >>= 1
                depth -= 1
                if depth == 0 { return isTooLong ? nil : bytes }
            case UInt8(ascii: "\""):
                try string()
                if depth == 0 { return isTooLong ? nil : bytes }
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                if depth == 0 { throw error("a value is expected") }
            default:
                if depth == 0, try isAtDelimiter() { return isTooLong ? nil : bytes }
            }
        } while true
    }
}
