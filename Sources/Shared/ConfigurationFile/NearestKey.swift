/// Guesses which key a person meant.
enum NearestKey {
    /// The candidate fewest edits away, when few enough to be a slip; ties go to the first.
    static func to(_ word: String, among candidates: [String]) -> String? {
        let limit = max(2, word.count / 3)
        var best: (distance: Int, word: String)?
        for candidate in candidates {
            let distance = editDistance(Array(word.utf8.prefix(64)), Array(candidate.utf8.prefix(64)))
            if distance <= limit, distance < best?.distance ?? .max { best = (distance, candidate) }
        }
        return best?.word
    }

    /// Levenshtein distance with one row of memory.
    static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (i, leftByte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, rightByte) in right.enumerated() {
                let substituted = diagonal + (leftByte == rightByte ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, diagonal + 1, row[j] + 1)
            }
        }
        return row[right.count]
    }
}
