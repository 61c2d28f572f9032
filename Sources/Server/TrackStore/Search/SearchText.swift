/// Texts as a search compares them: capital and small letters are the same.
package enum SearchText {
    /// Small letters, scalar by scalar. The result depends on the scalars alone, so what is indexed once is found again.
    package static func folded(_ text: String) -> [UInt8] {
        var text = text
        let plain: [UInt8]? = text.withUTF8 { bytes in
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
            return bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        }
        return plain ?? text.unicodeScalars.flatMap { $0.properties.lowercaseMapping.utf8 }
    }

    /// Whether a folded text holds a folded part; every text holds the empty one.
    package static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        var start = 0
        while start + part.count <= text.count {
            guard let next = text[start...(text.count - part.count)].firstIndex(of: first) else { return false }
            if text[next..<(next + part.count)].elementsEqual(part) { return true }
            start = next + 1
        }
        return false
    }
}
