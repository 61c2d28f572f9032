// Keys and tables that no program asks for, with a guess at what was meant.
extension ConfigurationReader {
    /// Remembers every key and every table below `path` that nobody asked for.
    mutating func findUnknown(_ entries: [String: TOMLNode], at path: [String]) {
        for (key, node) in entries.sorted(by: { $0.key < $1.key }) {
            let here = path + [key]
            if asked.contains(here) { continue }
            let isParent = asked.contains { $0.count > here.count && $0.starts(with: here) }
            // A guess at what was meant costs more than reading the key.
            guard isParent || unknownCount < Self.maximumUnknown else {
                unknownCount += 1
                continue
            }
            switch node {
            case .table(let inner, _) where isParent: findUnknown(inner, at: here)
            case _ where isParent: unknown(here, "\(here.joined(separator: ".")) is \(node.kind): it must be a table")
            case .table: unknownTable(here)
            default: unknownKey(here, key)
            }
        }
    }

    private mutating func unknown(_ path: [String], _ message: String) {
        unknownCount += 1
        problems.append(ConfigurationProblem(file: self.path, line: document.line(of: path), message: message))
    }

    private mutating func unknownTable(_ path: [String]) {
        let name = path.joined(separator: ".")
        var tables: [String] = []
        for other in asked.map({ $0.dropLast().joined(separator: ".") }) where !other.isEmpty && !tables.contains(other)
        {
            tables.append(other)
        }
        let guess = NearestKey.to(name, among: tables).map { ": did you mean [\($0)]?" }
        unknown(
            path,
            "unknown table [\(name)]" + (guess ?? ", known are " + tables.map { "[\($0)]" }.joined(separator: ", ")))
    }

    /// The value is not shown: it may be a secret under a misspelled key.
    private mutating func unknownKey(_ path: [String], _ key: String) {
        let siblings = asked.filter { $0.dropLast().elementsEqual(path.dropLast()) }.compactMap(\.last)
        let table = path.dropLast().joined(separator: ".")
        let place = table.isEmpty ? "at the top of the file" : "in [\(table)]"
        if let elsewhere = asked.first(where: { $0.last == key }) {
            let home = elsewhere.dropLast().joined(separator: ".")
            unknown(
                path,
                "unknown key \(key) \(place): it belongs "
                    + (home.isEmpty ? "at the top of the file" : "into [\(home)]"))
        } else if let guess = NearestKey.to(key, among: siblings) {
            unknown(path, "unknown key \(key) \(place): did you mean \(guess)?")
        } else if let guess = asked.first(where: { $0.last.map { NearestKey.to(key, among: [$0]) != nil } ?? false }) {
            unknown(path, "unknown key \(key) \(place): did you mean \(guess.joined(separator: "."))?")
        } else {
            unknown(path, "unknown key \(key) \(place)")
        }
    }
}
