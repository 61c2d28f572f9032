import ConfigurationFile
import FoundationEssentials
import JSON

/// What a backup holds and how to know that it still does: the file `backup.json`, see docs/formats/backup.md.
struct BackupManifest: Hashable, Sendable {
    /// A file of the backup.
    struct Entry: Hashable, Sendable {
        /// Its name in the backup.
        var name: String
        /// Where it was, and where `restore` puts it; absolute.
        var path: String
        /// Permissions, such as 0o600.
        var mode: UInt32
        var bytes: Int64
        /// 64 hexadecimal digits.
        var sha256: String
    }

    static let fileName = "backup.json"
    /// The sums of all other files and of the list itself, as `sha256sum -c` reads them.
    static let sumsName = "SHA256SUMS"
    static let storeName = "tracks.sqlite"
    private static let format: Int64 = 1

    /// ISO 8601, UTC.
    var made: String
    /// The program that made it.
    var program: String
    /// Of the store.
    var schema: Int
    var store: Entry
    /// The configuration and what it names.
    var files: [Entry]

    var text: [UInt8] {
        func value(_ entry: Entry) -> JSONValue {
            [
                "name": .string(entry.name), "path": .string(entry.path), "bytes": .integer(entry.bytes),
                "mode": .string(String(entry.mode, radix: 8)), "sha256": .string(entry.sha256),
            ]
        }
        let all: JSONValue = [
            "format": .integer(Self.format), "made": .string(made), "program": .string(program),
            "schema": .integer(Int64(schema)), "store": value(store), "files": .array(files.map(value)),
        ]
        return all.serialized() + Array("\n".utf8)
    }

    /// The content of the file `SHA256SUMS` beside a list with these bytes.
    func sums(of list: [UInt8]) -> [UInt8] {
        let list = (Self.fileName, BackupFile.sum(of: list))
        let all = ([store] + files).map { ($0.name, $0.sha256) } + [list]
        return Array(all.map { "\($0.1)  \($0.0)\n" }.joined().utf8)
    }

    init(made: String, program: String, schema: Int, store: Entry, files: [Entry]) {
        (self.made, self.program, self.schema, self.store, self.files) = (made, program, schema, store, files)
    }

    /// - Throws: `.file` for a text that no version of this program wrote.
    init(_ text: String, of path: String) throws(ServerError) {
        guard let all = try? JSONReader.value(of: Array(text.utf8)), let format = all["format"]?.integerValue else {
            throw ServerError(.file, "\(path) is no list of a backup: it is damaged, or of another program")
        }
        guard format == Self.format else {
            throw ServerError(
                .file, "\(path) has format \(format), this program knows \(Self.format): use the program that made it")
        }
        func entry(_ value: JSONValue?) -> Entry? {
            guard let value, let name = value["name"]?.stringValue, let path = value["path"]?.stringValue,
                let mode = value["mode"]?.stringValue.flatMap({ UInt32($0, radix: 8) }), mode <= 0o777,
                let bytes = value["bytes"]?.integerValue, let sum = value["sha256"]?.stringValue,
                !name.isEmpty, !name.contains("/"), path.hasPrefix("/")
            else { return nil }
            return Entry(name: name, path: path, mode: mode, bytes: bytes, sha256: sum)
        }
        let values = all["files"]?.arrayValue ?? []
        let files = values.compactMap { entry($0) }
        guard let made = all["made"]?.stringValue, let program = all["program"]?.stringValue,
            let schema = all["schema"]?.integerValue.flatMap(Int.init(exactly:)), let store = entry(all["store"]),
            files.count == values.count
        else { throw ServerError(.file, "\(path) is damaged: it lacks what every list of a backup has") }
        self.init(made: made, program: program, schema: schema, store: store, files: files)
    }
}
