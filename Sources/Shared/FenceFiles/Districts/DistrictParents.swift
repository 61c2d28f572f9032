internal import Geodesy

/// A feature that may become a district, when its parent is found.
struct DistrictCandidate {
    /// Among all features that were added.
    let order: Int
    /// The place of its file among the files.
    let file: Int
    let number: Int
    let id: String?
    let name: String
    let parent: String?
    /// It is an outermost one when no other district is its parent.
    let namesItself: Bool
    let shape: ShapeDraft
}

/// Finds the candidates that a parent's name or id means.
struct DistrictParents {
    /// Numbers of candidates, for each file.
    private var byID: [Int: [String: [Int]]] = [:]
    private var byName: [Int: [String: [Int]]] = [:]

    init(_ candidates: [DistrictCandidate]) {
        for (index, candidate) in candidates.enumerated() {
            if let id = candidate.id { byID[candidate.file, default: [:]][id, default: []].append(index) }
            byName[candidate.file, default: [:]][candidate.name, default: []].append(index)
        }
    }

    /// In the nearest file before that has the parent, or else in the candidate's own.
    func parents(of candidate: DistrictCandidate, at index: Int) -> [Int] {
        guard let parent = candidate.parent else { return [] }
        for file in stride(from: candidate.file - 1, through: 0, by: -1) {
            let found = named(parent, in: file)
            if !found.isEmpty { return found }
        }
        // A province of its own may name itself.
        guard parent != candidate.id else { return [] }
        let own = named(parent, in: candidate.file)
        // More than two are too many, whether or not the candidate is one of them.
        return own.count > 2 ? own : own.filter { $0 != index }
    }

    private func named(_ parent: String, in file: Int) -> [Int] {
        byID[file]?[parent] ?? byName[file]?[parent] ?? []
    }
}
