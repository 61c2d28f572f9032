/// Finds districts by what people call them: a full path (`湖南省长沙市雨花区`), a part of it (`江苏镇江`), a name without its
/// ending (`北京`).
package struct DistrictNames: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let name: String
        /// The number of an entry before or behind this one.
        package let parent: Int?

        package init(name: String, parent: Int?) {
            self.name = name
            self.parent = parent
        }
    }

    package enum Resolution: Hashable, Sendable {
        /// The number of the entry.
        case found(Int)
        /// Full names of those that are meant perhaps, at most ``mostCandidates``.
        case ambiguous([String])
        case unknown
    }

    package static let mostCandidates = 100
    /// Bytes of a keyword.
    package static let mostBytes = 512
    /// Districts inside each other.
    package static let deepest = 8

    package let entries: [Entry]
    /// Entries by each form of their own name.
    private var byForm: [String: [Int]] = [:]
    private var forms: [DistrictForms] = []

    /// Parents beyond ``deepest``, and in a circle, are not looked at.
    package init(_ entries: [Entry]) {
        self.entries = entries
        for (number, entry) in entries.enumerated() {
            let forms = DistrictForms(entry.name)
            self.forms.append(forms)
            for form in forms.all { byForm[form, default: []].append(number) }
        }
    }

    /// From the outermost district to this one.
    package func path(of number: Int) -> [String] {
        ([number] + ancestors(of: number)).reversed().map { entries[$0].name }
    }

    /// The structured name, as the Web API answers it.
    package func fullName(of number: Int) -> String { DistrictForms.joined(path(of: number)) }

    /// The nearest first.
    private func ancestors(of number: Int) -> [Int] {
        var ancestors: [Int] = []
        var next = entries[number].parent
        while let parent = next, entries.indices.contains(parent), ancestors.count < Self.deepest {
            ancestors.append(parent)
            next = entries[parent].parent
        }
        return ancestors
    }

    package func resolve(_ keyword: String) -> Resolution {
        guard keyword.utf8.count <= Self.mostBytes else { return .unknown }
        let wanted = Array(DistrictForms.normal(keyword).unicodeScalars)
        // How little was left out: 0 when every name was given in full.
        var best = Int.max
        var candidates: [Int] = []
        for start in wanted.indices {
            for number in byForm[DistrictForms.text(wanted[start...])] ?? [] {
                let own = forms[number].isFull(DistrictForms.text(wanted[start...])) ? 0 : 2
                guard let rest = cost(of: wanted[..<start], among: ancestors(of: number)[...]) else { continue }
                let cost = own + rest
                if cost < best { (best, candidates) = (cost, []) }
                if cost == best, !candidates.contains(number) { candidates.append(number) }
            }
        }
        guard let first = candidates.min() else { return .unknown }
        if candidates.count == 1 { return .found(first) }
        // A city that is a province of its own has its name on both levels.
        let outer = candidates.first { candidate in
            candidates.allSatisfy { other in
                other == candidate
                    || (ancestors(of: other).contains(candidate) && entries[other].name == entries[candidate].name)
            }
        }
        if let outer { return .found(outer) }
        return .ambiguous(candidates.sorted().prefix(Self.mostCandidates).map(fullName))
    }

    /// 0 when the names before a district's own are ancestors' in full, 1 when some have no ending, nil when they are others.
    private func cost(of text: ArraySlice<Unicode.Scalar>, among ancestors: ArraySlice<Int>) -> Int? {
        guard !text.isEmpty else { return 0 }
        var best: Int?
        for (position, ancestor) in zip(ancestors.indices, ancestors) {
            for form in forms[ancestor].all {
                let scalars = Array(form.unicodeScalars)
                guard text.count >= scalars.count, text.suffix(scalars.count).elementsEqual(scalars),
                    let rest = cost(of: text.dropLast(scalars.count), among: ancestors[(position + 1)...])
                else { continue }
                best = min(best ?? 1, max(rest, forms[ancestor].isFull(form) ? 0 : 1))
            }
        }
        return best
    }
}

/// A district's own name in full, and without its ending.
struct DistrictForms: Hashable, Sendable {
    /// Long ones first.
    private static let endings = [
        "特别行政区", "维吾尔自治区", "壮族自治区", "回族自治区", "自治区", "自治州", "自治县", "自治旗", "地区", "街道", "省", "市", "区", "县", "旗",
        "盟", "镇", "乡",
    ]

    let all: [String]

    init(_ name: String) {
        let full = Self.normal(name)
        var forms = full.isEmpty ? [] : [full]
        if let ending = Self.endings.first(where: full.hasSuffix) {
            let bare = String(full.dropLast(ending.count))
            // One character is no name: 北区 is not 北.
            if bare.unicodeScalars.count > 1 { forms.append(bare) }
        }
        all = forms
    }

    func isFull(_ form: String) -> Bool { all.first == form }

    /// Small letters, without white space and signs between names.
    static func normal(_ text: String) -> String {
        let kept = text.lowercased().unicodeScalars.filter { scalar in
            !scalar.properties.isWhitespace && !",/>-、，·".unicodeScalars.contains(scalar)
        }
        var normal = ""
        normal.unicodeScalars.append(contentsOf: kept)
        return normal
    }

    static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }

    /// Names one behind the other, with a comma between those that are written with spaces.
    static func joined(_ path: [String]) -> String {
        path.reduce("") { joined, name in
            guard let last = joined.unicodeScalars.last, let first = name.unicodeScalars.first else {
                return joined + name
            }
            return joined + (last.value < 0x2E80 || first.value < 0x2E80 ? ", " : "") + name
        }
    }
}
