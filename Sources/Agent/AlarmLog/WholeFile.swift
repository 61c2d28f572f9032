package import TrackCache

extension CacheFileSystem {
    /// Replaces a file whole, durably: a power cut leaves the old file or the new one. Makes the directory if it is missing.
    package func replaceFile(_ path: String, in directory: String, with bytes: [UInt8]) throws(CacheFileError) {
        do throws(CacheFileError) {
            try makeDirectory(directory)
        } catch {
            guard error.number == CacheFileError.existsAlready else { throw error }
        }
        let temporary = path + ".new"
        do throws(CacheFileError) {
            let file = try openFile(temporary, .replace)
            defer { close(file) }
            try writeFully(file, bytes, at: 0)
            try synchronizeFile(file, dataOnly: false)
            try rename(temporary, to: path)
        } catch {
            // A full disk needs the bytes of this file.
            try? unlink(temporary)
            throw error
        }
        try synchronizeNames(in: directory)
    }
}
