internal import Glibc

/// A note on disk that a token refused a PIN. It keeps a program that is restarted again and again from trying the PIN
/// until the token locks.
///
/// The note holds the key's URI and 16 bits that are computed from the PIN. That is enough to see that the PIN has
/// changed, and too little to learn the PIN.
package struct RefusedPIN: Hashable, Sendable {
    private let path: String
    private let text: String
    private let pinFile: String

    /// The note for the key of these options; nil when the key needs no PIN.
    package init?(_ options: TLSClientOptions, notedIn path: String) {
        guard let certificate = options.clientCertificate, case .store(let uri) = certificate.key,
            let file = certificate.store.pinFile, let pin = try? PIN(file: file)
        else { return nil }
        self.path = path
        pinFile = file
        text = "\(uri)\n\(pin.mark)\n"
    }

    /// Throws `pinRefused` when the note says that this PIN was refused.
    package func check() throws(SecureLinkError) {
        guard let handle = unsafe fopen(path, "re") else { return }
        defer { unsafe fclose(handle) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = unsafe fread(&bytes, 1, bytes.count, handle)
        guard String(decoding: bytes.prefix(count), as: UTF8.self) == text else { return }
        throw SecureLinkError(
            .pinRefused,
            "the token has refused the PIN in \(pinFile.printable(limit: 200)) before, and locks after a few wrong ones: it is not "
                + "tried again. Write the right PIN into that file, or remove \(path.printable(limit: 200)) to try it once more"
        )
    }

    package func remember() {
        guard let handle = unsafe fopen(path, "we") else { return }
        unsafe fputs(text, handle)
        unsafe fclose(handle)
    }

    /// The token accepted a PIN.
    package func forget() { unsafe unlink(path) }
}

extension PIN {
    /// FNV-1a, folded to 16 bits.
    fileprivate var mark: UInt16 {
        let hash = bytes.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32(UInt8(bitPattern: $1))) &* 16_777_619 }
        return UInt16(truncatingIfNeeded: hash ^ (hash >> 16))
    }
}
