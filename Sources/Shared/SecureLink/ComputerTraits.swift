internal import COpenSSL
internal import Glibc

/// What tells a computer from another one that has a copy of its disk. The command line and the agent make the same mark of it.
package struct ComputerTraits: Hashable, Sendable {
    /// What is known of a computer. Marks are compared only when they are made of the same.
    package struct Parts: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package static let machineID = Parts(rawValue: 1)
        package static let board = Parts(rawValue: 2)

        package init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// Of systemd (`/etc/machine-id`). It stands on the disk, and tools that make images reset it.
    package let machineID: String?
    /// The UUID of the board; of a board without one, its serial number.
    package let board: String?

    package init(machineID: String?, board: String?) {
        (self.machineID, self.board) = (machineID, board)
    }

    package var parts: Parts {
        var parts: Parts = []
        if machineID != nil { parts.insert(.machineID) }
        if board != nil { parts.insert(.board) }
        return parts
    }

    /// SHA-256 of machine id and board, 64 hexadecimal digits. It tells neither. `wanted`: other parts count as unknown.
    package func mark(
        of wanted: Parts = [.machineID, .board]
    ) throws(SecureLinkError) -> String {
        let id = wanted.contains(.machineID) ? machineID ?? "" : ""
        let board = wanted.contains(.board) ? board ?? "" : ""
        return try Self.digest(of: Array("\(id)\n\(board)".utf8))
    }

    /// SHA-256 as 64 lower-case hexadecimal digits. Throws `other` when OpenSSL cannot, which a policy of the system may
    /// cause.
    private static func digest(of bytes: [UInt8]) throws(SecureLinkError) -> String {
        OpenSSLErrorQueue.clear()
        var count: UInt32 = 0
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        guard unsafe EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil) == 1 else {
            throw SecureLinkError(.other, "OpenSSL made no digest: \(OpenSSLErrorQueue.drain().summary)")
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.prefix(Int(count)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    // MARK: Reading

    /// Longest value, characters.
    package static let maximumCharacters = 64

    /// The first line of a small file, without what cannot be printed; nil when it cannot be read or has nothing.
    package static func line(of path: String) -> String? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        return line(in: Array(bytes.prefix(count)))
    }

    /// The same of bytes that were read already.
    package static func line(in bytes: [UInt8]) -> String? {
        let printable = bytes.prefix { $0 != 0x0A && $0 != 0 }.filter { (0x20..<0x7F).contains($0) }
        let trimmed = printable.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed()
        let text = String(String(decoding: trimmed, as: UTF8.self).prefix(maximumCharacters))
        return text.isEmpty ? nil : text
    }
}
