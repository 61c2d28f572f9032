/// The tables of a text while it is read, and the line of every key.
///
/// The tables stand in one array and name each other by their places there. So each key costs the same, however large
/// its table is.
struct TOMLTree: Sendable {
    private struct Table {
        var entries: [String: Entry] = [:]
        var kind: TOMLNode.TableKind
    }

    private struct Entry {
        var content: Content
        /// Where the key is first named; from 1.
        let line: Int
    }

    private enum Content {
        case value(TOMLNode)
        /// The place of the table.
        case table(Int)
        /// The place of the list of tables.
        case list(Int)
    }

    /// The first is the root.
    private var tables: [Table]
    /// The tables that `[[name]]` headers made, by name.
    private var lists: [[Int]] = []
    /// The table that keys are added to.
    private var current = 0

    init(_ kind: TOMLNode.TableKind) {
        tables = [Table(kind: kind)]
    }

    /// The whole tree.
    var root: [String: TOMLNode] { nodes(of: 0) }

    /// The line of a key, or of the nearest table around it.
    func line(of path: [String]) -> Int? {
        var place = 0
        var line: Int?
        for name in path {
            guard let entry = tables[place].entries[name] else { return line }
            line = entry.line
            switch entry.content {
            case .value: return line
            case .table(let inner): place = inner
            case .list(let list): place = lists[list].first ?? place
            }
        }
        return line
    }

    // MARK: Building; false means that the text contradicts itself

    /// A header: the keys that follow belong to this table.
    mutating func open(_ path: [String], isArray: Bool, line: Int) -> Bool {
        var place = 0
        for name in path.dropLast() {
            guard let inner = descend(name, from: place, making: .implicit, line: line) else { return false }
            place = inner
        }
        guard let name = path.last else { return false }
        switch tables[place].entries[name]?.content {
        case nil:
            current = add(.header)
            if isArray { lists.append([current]) }
            tables[place].entries[name] = Entry(
                content: isArray ? .list(lists.count - 1) : .table(current), line: line)
        case .list(let list) where isArray:
            current = add(.header)
            lists[list].append(current)
        case .table(let inner) where !isArray && tables[inner].kind == .implicit:
            tables[inner].kind = .header
            current = inner
        default: return false
        }
        return true
    }

    /// A key, dotted or not; false when it is there or leads through something that is no open table.
    mutating func insert(_ key: [String], _ value: TOMLNode, line: Int) -> Bool {
        var place = current
        for name in key.dropLast() {
            guard let inner = descend(name, from: place, making: .dotted, line: line) else { return false }
            place = inner
        }
        guard let name = key.last, tables[place].entries[name] == nil else { return false }
        tables[place].entries[name] = Entry(content: .value(value), line: line)
        return true
    }

    /// The table of this name. A header may lead through every table of a header; a dotted key may not.
    private mutating func descend(
        _ name: String, from place: Int, making kind: TOMLNode.TableKind, line: Int
    ) -> Int? {
        switch tables[place].entries[name]?.content {
        case nil:
            let made = add(kind)
            tables[place].entries[name] = Entry(content: .table(made), line: line)
            return made
        case .table(let inner): return kind == .implicit || tables[inner].kind == .dotted ? inner : nil
        case .list(let list): return lists[list].last
        case .value: return nil
        }
    }

    private mutating func add(_ kind: TOMLNode.TableKind) -> Int {
        tables.append(Table(kind: kind))
        return tables.count - 1
    }

    // MARK: The result

    private func nodes(of place: Int) -> [String: TOMLNode] {
        tables[place].entries.mapValues { entry in
            switch entry.content {
            case .value(let node): node
            case .table(let inner): node(inner)
            case .list(let list): .array(lists[list].map(node), .tables)
            }
        }
    }

    private func node(_ place: Int) -> TOMLNode { .table(nodes(of: place), tables[place].kind) }
}
