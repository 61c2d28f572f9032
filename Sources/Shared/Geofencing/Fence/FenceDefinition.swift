package import Geodesy
internal import TrackModel

/// A fence as people and programs give it. ``Fence`` is what has been made of it, ``FencePlan`` what is judged.
package struct FenceDefinition: Hashable, Sendable {
    /// Free text without a meaning, at most ``mostNameBytes``; may be empty.
    package var name = ""
    /// The numbers as given, in the datum in which they were given.
    package var shape: ShapeDraft
    /// The name of the district whose outline ``shape`` is.
    package var district: String?
    /// What is told. With `stay`, ``stay`` is needed.
    package var rule: FenceRule = .usual
    package var stay: StayRule?
    /// Seconds, ``settles``: enter and exit are told only when they have held for so long.
    package var settle = 0
    /// Whether an entity that is first seen inside makes an enter.
    package var isInitialTold = false
    /// Whether a visit between two points counts; nil: it does for areas, and does not for corridors.
    package var through: Bool?
    /// Seconds, ``FencePlan/crossingGaps``: the way between two points is known when no more time lies between them.
    package var crossingGap = 120
    /// Metres, ``denoises``; a point with a worse accuracy is not judged. 0: every point is.
    package var denoise: Int32 = 0
    /// The floor's name; compared with the track attribute `floor`.
    package var floor: String?
    package var altitude: AltitudeRange?
    package var validity: FenceValidity?
    /// Fences with the same group and watch are one more thing with alarms of its own.
    package var group: String?
    package var speedLimit: SpeedLimit?
    package var watch: FenceWatch = .nobody
    /// At most one for each action.
    package var reactions: [FenceReaction] = []
    /// Whether the agent reports the alarms of this fence of its own to the server.
    package var isReported = false
    /// Where an imported fence came from.
    package var origin: FenceOrigin?

    /// Bytes of UTF-8: of a name, a floor, a group; and of a district's name, which has all of its parents' in it.
    package static let mostNameBytes = 128
    package static let mostDistrictBytes = 512
    package static let settles = 0...604_800
    package static let denoises: ClosedRange<Int32> = 0...1_000_000

    package init(_ shape: ShapeDraft) {
        self.shape = shape
    }

    /// What goes along with an action.
    package func reaction(to action: FenceAction) -> FenceReaction? {
        reactions.first { $0.on == action }
    }

    /// What texts of a new or changed fence may not hold: they are shown on terminals and in logs. A stored fence of an earlier version
    /// stays one, also when something else of it is changed.
    ///
    /// - Throws: ``FenceError``.
    package func checkTexts(beside former: FenceDefinition? = nil) throws(FenceError) {
        for (text, was, what, rule) in [
            (name, former?.name, "a fence's name", FenceError.Rule.name),
            (group ?? "", former?.group, "a fence's group", .group),
        ] where was.map({ !$0.utf8.elementsEqual(text.utf8) }) ?? true {
            if let problem = NameRules.problem(with: text, what) { throw FenceError(rule, problem) }
        }
        // Both are compared with texts that come from elsewhere.
        for (text, was, name, rule) in [
            (district ?? "", former?.district, "the district", FenceError.Rule.name),
            (floor ?? "", former?.floor, "the floor", .floor),
        ] where text.hasHidden && text != was {
            throw FenceError(
                rule, "\(name) holds a control, direction or invisible character (such as a line break): leave it out")
        }
    }

    /// Every rule but those of the shape.
    ///
    /// - Throws: ``FenceError`` that names the value, the rule and what to do.
    package func check() throws(FenceError) {
        try FenceError.checkText(name, "the name", .name, most: Self.mostNameBytes, mayBeEmpty: true)
        if let district {
            try FenceError.checkText(district, "the district", .name, most: Self.mostDistrictBytes)
        }
        if let floor { try FenceError.checkText(floor, "the floor", .floor, most: Self.mostNameBytes) }
        if let group { try FenceError.checkText(group, "the group", .group, most: Self.mostNameBytes) }
        try checkTimes()
        guard Self.denoises.contains(denoise) else {
            throw FenceError(.denoise, "a denoise of \(denoise) m: it is 0, which is off, to 1,000,000 metres")
        }
        try validity?.check()
        var seen: Set<FenceAction> = []
        for reaction in reactions where !seen.insert(reaction.on).inserted {
            throw FenceError(.reaction, "two actions on \(reaction.on.rawValue): put their params into one")
        }
        guard !seen.contains(.overspeed) || speedLimit != nil else {
            throw FenceError(.reaction, "an action on overspeed, and no speed limit: give one, or leave the action out")
        }
        guard !seen.contains(.stay) || stay != nil else {
            throw FenceError(.reaction, "an action on stay, and no stay: say when one is told, or leave the action out")
        }
    }

    private func checkTimes() throws(FenceError) {
        guard rule.isSubset(of: [.enter, .exit, .stay]) else {
            throw FenceError(.rule, "the rule \(rule.rawValue) is unknown: it has enter, exit and stay")
        }
        guard rule.contains(.stay) == (stay != nil) else {
            throw FenceError(
                .stay,
                stay == nil
                    ? "the rule has stay: say after how many seconds a stay is told, and how often"
                    : "when a stay is told is given, and the rule has no stay: add it to the rule")
        }
        guard Self.settles.contains(settle) else {
            throw FenceError(.settle, "a settle of \(settle) s: it is 0 to 604,800 seconds")
        }
        guard FencePlan.crossingGaps.contains(crossingGap) else {
            throw FenceError(.crossingGap, "a crossing gap of \(crossingGap) s: it is 0 to 300 seconds")
        }
    }

    /// The shape in WGS 84.
    ///
    /// - Throws: ``FenceError`` that names the value, the edge and the place, and the rule.
    package func checkedShape(isKnown: Bool = false, isStored: Bool = false) throws(FenceError) -> Shape {
        do throws(ShapeError) {
            return try shape.shape(isKnown: isKnown, isStored: isStored)
        } catch {
            throw FenceError(.shape(error.rule), error.description)
        }
    }
}
