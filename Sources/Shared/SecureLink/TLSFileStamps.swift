internal import Glibc

/// The files that the options name, with their state on disk. If two stamps differ, there is something to read again.
package struct TLSFileStamps: Hashable, Sendable {
    private struct Stamp: Hashable, Sendable {
        /// 0, or the error number of stat.
        var error: Int32 = 0
        var device: UInt64 = 0
        var inode: UInt64 = 0
        var size: Int64 = 0
        var seconds: Int64 = 0
        var nanoseconds: Int64 = 0
        var mode: UInt32 = 0
    }

    private let stamps: [String: Stamp]

    /// Looks at the files now. May wait for their disk.
    package init(of options: TLSClientOptions) {
        stamps = Dictionary(options.files.map { ($0, Self.stamp($0)) }) { first, _ in first }
    }

    private static func stamp(_ path: String) -> Stamp {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return Stamp(error: errno) }
        return Stamp(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec), mode: status.st_mode)
    }
}

extension TLSClientOptions {
    /// The files that ``TLSContext`` reads for these options.
    package var files: [String] {
        var files: [String] = []
        if case .authorities(let file) = trust { files.append(file) }
        if let certificate = clientCertificate {
            files.append(certificate.chainFile)
            if let next = certificate.nextChainFile { files.append(next) }
            switch certificate.key {
            case .file(let path): files.append(path)
            case .store(let uri):
                if uri.hasPrefix("file:/") { files.append(String(uri.dropFirst("file:".count))) }
                if let pin = certificate.store.pinFile { files.append(pin) }
            }
        }
        return files
    }
}
