import FenceFiles

/// What an import does, for people.
enum ImportView {
    /// So many refused features are shown one by one.
    private static let toldRefusals = 10

    /// On standard error: features that cannot become fences.
    static func tellRefusals(_ plan: ImportPlan, of file: String) {
        for refused in plan.refusals.prefix(toldRefusals) {
            Console.complain("saker: \(file): \(refused)".printable)
        }
        let rest = Int64(plan.refused - min(plan.refusals.count, toldRefusals))
        if rest > 0 { Console.complain("saker: \(file.printable): and \(Quantity.count(rest, "feature")) more") }
    }

    /// What happens to the features of the file, and to the fences that are there.
    static func lines(_ plan: ImportPlan) -> [String] {
        func part(_ count: Int, _ text: String) -> String? {
            count == 0 ? nil : "\(Quantity.count(Int64(count))) \(text)"
        }
        let fences = [
            part(plan.additions.count, "new"), part(plan.updates.count, "changed"),
            part(plan.unchanged, "unchanged"), part(plan.removals.count, "removed"),
            part(plan.held, "kept without a feature"),
        ].compactMap(\.self)
        var lines = ["Fences: \(fences.isEmpty ? "none" : fences.joined(separator: ", "))."]
        let features = [
            part(plan.notChosen, "not chosen by --where"), part(plan.outside, "not in --within"),
            part(plan.refused, "refused"),
        ].compactMap(\.self)
        if !features.isEmpty { lines.append("Other features: \(features.joined(separator: ", ")).") }
        if plan.withoutID > 0 {
            lines.append(
                "\(Quantity.count(Int64(plan.withoutID), "feature has", "features have")) no id, so the number in the file"
                    + " counts: if the order of the file changes, give --id-column.")
        }
        return lines
    }
}
