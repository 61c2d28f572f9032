import Glibc

extension Secret {
    /// A credential that systemd passed to the service (`LoadCredential=`), without white space at its ends; nil when
    /// there is none. A blank one is none: the units set that as the default of a credential nobody made.
    package static func credential(named name: String) throws(ConfigurationError) -> Secret? {
        guard let directory = getenv("CREDENTIALS_DIRECTORY") else { return nil }
        let path = String(cString: directory) + "/" + name
        guard access(path, F_OK) == 0 else { return nil }
        let (bytes, _) = try FileReading.bytes(of: path, limit: ConfigurationReader.maximumSecretBytes)
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let text = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        if text.isEmpty { return nil }
        guard let secret = String(validating: text, as: UTF8.self) else {
            throw ConfigurationError(.unreadable, file: path, "the credential is not UTF-8")
        }
        return Secret(secret)
    }
}
