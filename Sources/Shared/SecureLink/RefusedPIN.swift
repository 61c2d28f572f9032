internal import DirectoryAccess
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
        guard let certificate = options.clientCertificate else { return nil }
        self.init(certificate.key, certificate.store, notedIn: path)
    }

    /// The note for a key; nil when the key needs no PIN.
    init?(_ key: TLSClientOptions.PrivateKey, _ store: TLSClientOptions.KeyStore, notedIn path: String) {
        guard case .store(let uri) = key, let file = store.pinFile, let pin = try? PIN(file: file) else { return nil }
        self.path = path
        pinFile = file
        text = "\(uri)\n\(pin.mark)\n"
    }

    /// Throws `pinRefused` when the note says that this PIN was refused.
    package func check() throws(SecureLinkError) {
        // The directory is the agent's, and root reads it too: no link is followed, and no pipe is waited for.
        let (folder, name) = DirectoryHandle.parts(of: path)
        guard let descriptor = try? DirectoryHandle(folder).open(FileName(name)) else { return }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = max(0, unsafe read(descriptor, &bytes, bytes.count))
        guard String(decoding: bytes.prefix(count), as: UTF8.self) == text else { return }
        throw SecureLinkError(
            .pinRefused,
            "the token has refused the PIN in \(pinFile.printable(limit: 200)) before, and locks after a few wrong ones: it is not "
                + "tried again. Write the right PIN into that file, or remove \(path.printable(limit: 200)) to try it once more"
        )
    }

    /// Agent and command line share the note. So root gives it to the owner of the directory, and makes it anew: a link
    /// that the owner has put there would lead root's writing elsewhere.
    package func remember() {
        let (folder, name) = DirectoryHandle.parts(of: path)
        guard let directory = try? DirectoryHandle(folder) else { return }
        try? directory.remove(FileName(name))
        guard let descriptor = try? directory.create(FileName(name), mode: 0o600) else { return }
        defer { close(descriptor) }
        if geteuid() == 0, let found = directory.status { _ = fchown(descriptor, found.owner, found.group) }
        let bytes = Array(text.utf8)
        _ = unsafe write(descriptor, bytes, bytes.count)
        fsync(descriptor)
    }

    /// The token accepted a PIN.
    package func forget() {
        let (folder, name) = DirectoryHandle.parts(of: path)
        try? DirectoryHandle(folder).remove(FileName(name))
    }
}

extension PIN {
    /// FNV-1a, folded to 16 bits.
    fileprivate var mark: UInt16 {
        let hash = bytes.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32(UInt8(bitPattern: $1))) &* 16_777_619 }
        return UInt16(truncatingIfNeeded: hash ^ (hash >> 16))
    }
}
