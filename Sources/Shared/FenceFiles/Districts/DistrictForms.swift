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
