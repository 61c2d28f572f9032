import Glibc

/// Reads one TOML file key by key; what a program asks for is what the file may hold.
///
/// A getter always returns a value (the default when the file's is wrong) and remembers what it found; ``finish()``
/// then throws everything that is wrong at once: values outside their range or of the wrong type, missing keys, and
/// keys nobody asked for.
///
/// ```swift
/// var reader = try ConfigurationReader(path: "/etc/saker/agent.toml")
/// let host = reader.requiredString("server", "host")
/// let port = reader.integer("server", "port", default: 7443, range: 1...65535)
/// let effective = try reader.finish()
/// ```
package struct ConfigurationReader: Sendable {
    /// Bytes; a configuration is written by people.
    package static let maximumFileBytes = 1 << 20
    /// Unknown keys and tables that are told one by one; of more, how many there are.
    static let maximumUnknown = 20
    /// Bytes of a file named by a `…_file` key that holds a secret.
    package static let maximumSecretBytes = 4096

    package let path: String
    let document: TOMLDocument
    private var entries: [EffectiveConfiguration.Entry] = []
    /// The keys that the program has asked for.
    var asked: [[String]] = []
    var problems: [ConfigurationProblem] = []
    private var warnings: [String] = []
    /// Keys whose value is a problem already.
    private var refused: Set<[String]> = []
    /// Keys and tables that nobody asked for.
    var unknownCount = 0

    /// Reads the file; throws `.unreadable` or `.syntax`.
    package init(path: String) throws(ConfigurationError) {
        try self.init(try FileReading.bytes(of: path, limit: Self.maximumFileBytes), path)
    }

    /// Reads a file that is open.
    package init(descriptor: Int32, path: String) throws(ConfigurationError) {
        try self.init(try FileReading.bytes(from: descriptor, of: path, limit: Self.maximumFileBytes), path)
    }

    private init(_ file: ([UInt8], FileReading.Status), _ path: String) throws(ConfigurationError) {
        let (bytes, status) = file
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(.syntax, file: path, "is not UTF-8")
        }
        try self.init(text: text, path: path)
        isReadableByAll = status.isReadableByAll
    }

    /// Reads a text; the path is for messages, and relative `…_file` paths start from its directory.
    package init(text: String, path: String) throws(ConfigurationError) {
        self.path = path
        document = try TOMLDocument(text, path: path)
    }

    private var isReadableByAll = false
    /// Why files with secrets cannot be used, as far as that is no problem: see ``tolerateUnusableSecrets()``.
    package private(set) var secretTroubles: [String] = []
    private var toleratesUnusableSecrets = false

    /// From now on a file with a secret that cannot be used is no problem of the configuration: the secret is missing, and
    /// ``secretTroubles`` says why. For a program that does its work without the secret until the file is put right.
    package mutating func tolerateUnusableSecrets() { toleratesUnusableSecrets = true }

    // MARK: Getters

    package mutating func string(_ table: String, _ key: String, default fallback: String) -> String {
        optionalText(table, key, fallback: fallback) ?? fallback
    }

    /// Nil when not given; an empty string counts as not given.
    package mutating func optionalString(_ table: String, _ key: String) -> String? {
        let text = optionalText(table, key, fallback: nil)
        return text?.isEmpty == true ? nil : text
    }

    /// A problem and an empty string when missing or empty.
    package mutating func requiredString(_ table: String, _ key: String, hint: String = "") -> String {
        let text = optionalText(table, key, fallback: nil) ?? ""
        if text.isEmpty { requireMissing(table, key, hint: hint) }
        return text
    }

    package mutating func strings(_ table: String, _ key: String, default fallback: [String]) -> [String] {
        guard let node = node(table, key) else {
            note(table, key, TOMLText.array(fallback), isDefault: true)
            return fallback
        }
        guard case .array(let nodes, _) = node else {
            wrongType(table, key, node, wanted: "an array of strings")
            return fallback
        }
        var texts: [String] = []
        for item in nodes {
            guard case .string(let text) = item else {
                problem(table, key, "\(key) holds \(item.excerpt), \(item.kind): it must be an array of strings")
                return fallback
            }
            texts.append(text)
        }
        note(table, key, TOMLText.array(texts), isDefault: false)
        return texts
    }

    package mutating func integer(
        _ table: String, _ key: String, default fallback: Int, range: ClosedRange<Int>, unit: String = ""
    ) -> Int {
        optionalInteger(table, key, fallback: fallback, range: range, unit: unit) ?? fallback
    }

    package mutating func optionalInteger(
        _ table: String, _ key: String, range: ClosedRange<Int>, unit: String = ""
    ) -> Int? {
        optionalInteger(table, key, fallback: nil, range: range, unit: unit)
    }

    /// A whole number in the file is taken too.
    package mutating func number(
        _ table: String, _ key: String, default fallback: Double, range: ClosedRange<Double>, unit: String = ""
    ) -> Double {
        let rule = Self.rule(range, unit)
        guard let node = node(table, key) else {
            note(table, key, String(fallback), isDefault: true, rule: rule)
            return fallback
        }
        let value: Double
        switch node {
        case .double(let given): value = given
        case .integer(let given): value = Double(given)
        default:
            wrongType(table, key, node, wanted: "a number, \(rule)")
            return fallback
        }
        guard range.contains(value) else {
            problem(table, key, "\(key) = \(node.excerpt): it must be \(rule)")
            return fallback
        }
        note(table, key, String(value), isDefault: false, rule: rule)
        return value
    }

    package mutating func boolean(_ table: String, _ key: String, default fallback: Bool) -> Bool {
        guard let node = node(table, key) else {
            note(table, key, String(fallback), isDefault: true, rule: "true or false")
            return fallback
        }
        guard case .boolean(let value) = node else {
            wrongType(table, key, node, wanted: "true or false, without quotes")
            return fallback
        }
        note(table, key, String(value), isDefault: false, rule: "true or false")
        return value
    }

    /// One of the raw values of an enumeration.
    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ table: String, _ key: String, default fallback: Choice
    ) -> Choice {
        let names = Choice.allCases.map(\.rawValue)
        let rule = "one of " + names.map(TOMLText.quoted).joined(separator: ", ")
        guard let node = node(table, key) else {
            note(table, key, TOMLText.quoted(fallback.rawValue), isDefault: true, rule: rule)
            return fallback
        }
        guard case .string(let text) = node else {
            wrongType(table, key, node, wanted: rule)
            return fallback
        }
        guard let choice = Choice(rawValue: text) else {
            let guess = NearestKey.to(text, among: names).map { " (did you mean \(TOMLText.quoted($0))?)" } ?? ""
            problem(table, key, "\(key) = \(node.excerpt): it must be \(rule)\(guess)")
            return fallback
        }
        note(table, key, TOMLText.quoted(text), isDefault: false, rule: rule)
        return choice
    }

    /// From `key` itself or from the file that `key_file` names; both at once is a problem, neither is nil.
    ///
    /// A relative file name starts from `$CREDENTIALS_DIRECTORY` when systemd set it, else from the configuration's
    /// own directory. White space at the file's ends is dropped.
    package mutating func secret(_ table: String, _ key: String) -> Secret? {
        let direct = node(table, key)
        let fileKey = key + "_file"
        let file = optionalString(table, fileKey)
        guard let direct else {
            note(table, key, nil, isDefault: true, rule: "a secret")
            guard let file else { return nil }
            return secret(inFile: file, table, fileKey)
        }
        guard file == nil else {
            problem(table, fileKey, "\(key) and \(fileKey) are both given: keep one")
            return nil
        }
        // The value itself never stands in a message.
        guard case .string(let text) = direct else {
            problem(table, key, "\(key) is \(direct.kind): it must be a string in quotes")
            return nil
        }
        note(table, key, "\"<hidden>\"", isDefault: false, rule: "a secret")
        if text.isEmpty { return nil }
        if isReadableByAll {
            warnings.append("\(path) holds \(key) and everyone on this machine may read it: chmod 0640 \(path)")
        }
        return Secret(text)
    }

    /// A rule of the program itself, about a key it has read.
    package mutating func reject(_ table: String, _ key: String, _ message: String) {
        problem(table, key, message)
    }

    /// The problem of a key that must be given, for rules such as "with `a` also `b`". A key that is given and wrong
    /// has been told already.
    package mutating func requireMissing(_ table: String, _ key: String, hint: String = "") {
        guard !refused.contains(Self.path(table, key)) else { return }
        let place = table.isEmpty ? "" : " in [\(table)]"
        problem(table, key, "\(key)\(place) is missing" + (hint.isEmpty ? "" : ": \(hint)"))
    }

    /// The effective configuration, or everything that is wrong with the file.
    package consuming func finish() throws(ConfigurationError) -> EffectiveConfiguration {
        findUnknown(document.root, at: [])
        guard problems.isEmpty else {
            let ordered = problems.enumerated().sorted {
                ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
            }
            let more = unknownCount - Self.maximumUnknown
            let rest = ConfigurationProblem(file: path, line: nil, message: "and \(more) more unknown keys and tables")
            throw ConfigurationError(.invalid, ordered.map(\.element) + (more > 0 ? [rest] : []))
        }
        return EffectiveConfiguration(path: path, entries: entries, warnings: warnings)
    }

    // MARK: Inside

    private static func path(_ table: String, _ key: String) -> [String] {
        table.split(separator: ".").map(String.init) + [key]
    }

    static func rule<Bound>(_ range: ClosedRange<Bound>, _ unit: String) -> String {
        "\(range.lowerBound)...\(range.upperBound)" + (unit.isEmpty ? "" : " \(unit)")
    }

    private mutating func node(_ table: String, _ key: String) -> TOMLNode? {
        let path = Self.path(table, key)
        asked.append(path)
        var entries = document.root
        for name in path.dropLast() {
            guard let node = entries[name] else { return nil }
            guard case .table(let inner, _) = node else { return nil }
            entries = inner
        }
        return entries[key]
    }

    private mutating func optionalText(_ table: String, _ key: String, fallback: String?) -> String? {
        guard let node = node(table, key) else {
            note(table, key, fallback.map(TOMLText.quoted), isDefault: true)
            return nil
        }
        guard case .string(let text) = node else {
            wrongType(table, key, node, wanted: "a string in quotes")
            return nil
        }
        note(table, key, TOMLText.quoted(text), isDefault: false)
        return text
    }

    private mutating func optionalInteger(
        _ table: String, _ key: String, fallback: Int?, range: ClosedRange<Int>, unit: String
    ) -> Int? {
        let rule = Self.rule(range, unit)
        guard let node = node(table, key) else {
            note(table, key, fallback.map(String.init), isDefault: true, rule: rule)
            return nil
        }
        guard case .integer(let value) = node else {
            wrongType(table, key, node, wanted: "a whole number, \(rule)")
            return nil
        }
        guard range.contains(value) else {
            problem(table, key, "\(key) = \(value): it must be \(rule)")
            return nil
        }
        note(table, key, String(value), isDefault: false, rule: rule)
        return value
    }

    private mutating func secret(inFile file: String, _ table: String, _ key: String) -> Secret? {
        let file = resolve(file)
        do {
            let (bytes, status) = try FileReading.bytes(of: file, limit: Self.maximumSecretBytes)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                unusableSecret(table, key, "\(file) is not UTF-8")
                return nil
            }
            let content = text.drop(while: \.isWhitespace)
            let trimmed = String(content.reversed().drop(while: \.isWhitespace).reversed())
            guard !trimmed.isEmpty else {
                unusableSecret(table, key, "\(file) is empty: write the secret into it")
                return nil
            }
            if status.isReadableByAll {
                warnings.append("\(file) holds a secret and everyone on this machine may read it: chmod 0640 \(file)")
            }
            return Secret(trimmed)
        } catch {
            unusableSecret(table, key, error.problems.map(\.description).joined())
            return nil
        }
    }

    private mutating func unusableSecret(_ table: String, _ key: String, _ reason: String) {
        guard toleratesUnusableSecrets else { return problem(table, key, "\(key): \(reason)") }
        secretTroubles.append("[\(table)] \(key): \(reason)")
        refused.insert(Self.path(table, key))
    }

    /// The absolute form of a path given in this file: see ``secret(_:_:)`` for where relative ones start.
    package func resolve(_ file: String) -> String {
        if file.hasPrefix("/") { return file }
        let directory: Substring
        if let credentials = getenv("CREDENTIALS_DIRECTORY") {
            let candidate = String(cString: credentials) + "/" + file
            if access(candidate, F_OK) == 0 { return candidate }
        }
        directory = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
        return "\(directory)/\(file)"
    }

    private mutating func note(
        _ table: String, _ key: String, _ value: String?, isDefault: Bool, rule: String = ""
    ) {
        entries.append(.init(table: table, key: key, value: value, isDefault: isDefault, rule: rule))
    }

    private mutating func problem(_ table: String, _ key: String, _ message: String) {
        refused.insert(Self.path(table, key))
        problems.append(
            ConfigurationProblem(file: path, line: document.line(of: Self.path(table, key)), message: message))
    }

    private mutating func wrongType(_ table: String, _ key: String, _ node: TOMLNode, wanted: String) {
        problem(table, key, "\(key) = \(node.excerpt) is \(node.kind): it must be \(wanted)")
    }
}
