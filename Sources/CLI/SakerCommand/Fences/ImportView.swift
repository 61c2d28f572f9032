import FenceFiles
import Terminal

/// What an import does, for people.
enum ImportView {
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
        if plan.unreported > 0 {
            lines.append(
                "\(Quantity.count(Int64(plan.unreported), "fence tells", "fences tell")) an action to others (remote), who hear of it"
                    + " through the server alone: give --report.")
        }
        return lines
    }
}
