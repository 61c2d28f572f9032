internal import Glibc

/// Names the present start of the computer, so that the next process knows whether the computer was started anew.
enum BootName {
    private static let file = "/proc/sys/kernel/random/boot_id"

    /// systemd tells it in `SAKER_BOOT_ID`: the sandbox of the unit hides the kernel's file. Nil: neither is there.
    static func read() -> String? {
        usable(getenv("SAKER_BOOT_ID").map { String(cString: $0) }) ?? usable(kernels())
    }

    /// 128 bits in hexadecimal, with or without hyphens; nil for anything else.
    static func usable(_ text: String?) -> String? {
        let digits = text?.filter { $0 != "-" && !$0.isWhitespace }.lowercased()
        return digits.flatMap { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) ? $0 : nil }
    }

    /// The 16 bytes of a name; none for a text that is no name.
    static func bytes(_ name: String) -> [UInt8] {
        let digits = (usable(name) ?? "").compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func kernels() -> String? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
