package import Geodesy
package import TrackModel

/// A fence that exists: a definition that keeps every rule, its shape in WGS 84, its number and its history.
package struct Fence: Hashable, Sendable {
    /// Positive. Local fences and server fences are two spaces of numbers.
    package private(set) var id: Int32
    /// From 1. It grows with each change of what a verdict or an alarm depends on, not of names, actions and watch.
    package private(set) var revision: Int32
    package private(set) var definition: FenceDefinition
    /// Converted once.
    package private(set) var shape: Shape
    package let created: Timestamp
    package private(set) var modified: Timestamp
    /// The revision of the last change that set places anew; at first 1.
    package private(set) var areaRevision: Int32
    /// When that was; at first ``created``.
    package private(set) var revisedAt: Timestamp

    /// A new fence.
    ///
    /// - Throws: ``FenceError`` for a definition that breaks a rule.
    package init(id: Int32, _ definition: FenceDefinition, at time: Timestamp) throws(FenceError) {
        try self.init(
            id: id, revision: 1, areaRevision: 1, definition, created: time, modified: time, revisedAt: time,
            isStored: false)
    }

    /// A fence that was stored. It is checked like a new one, unless it was made from the same bytes before. A shape that an
    /// earlier version took stays one.
    package init(
        id: Int32, revision: Int32, areaRevision: Int32, _ definition: FenceDefinition, created: Timestamp,
        modified: Timestamp, revisedAt: Timestamp, isKnown: Bool = false, isStored: Bool = true
    ) throws(FenceError) {
        guard id > 0, revision > 0 else {
            throw FenceError(.revision, "fence \(id) of revision \(revision): both numbers are positive")
        }
        guard areaRevision > 0, areaRevision <= revision else {
            throw FenceError(
                .revision,
                "fence \(id) of revision \(revision) has the area of revision \(areaRevision): it is 1 ... \(revision)")
        }
        try definition.check()
        if !isStored { try definition.checkTexts() }
        self.id = id
        self.revision = revision
        self.areaRevision = areaRevision
        self.definition = definition
        shape = try definition.checkedShape(isKnown: isKnown, isStored: isStored)
        self.created = created
        self.modified = modified
        self.revisedAt = revisedAt
    }

    /// The same fence with another number: so the shape can be checked before the number is known.
    ///
    /// `id`: positive.
    package func numbered(_ id: Int32) -> Fence {
        var fence = self
        fence.id = id
        return fence
    }

    /// The same fence that watches others. No verdict depends on whom a fence watches, but the code of its group does.
    package func watching(_ watch: FenceSubjects) -> Fence {
        var fence = self
        fence.definition.watch = watch
        return fence
    }

    /// Puts another definition in the place of the present one, and says how much that changes. After an error nothing has
    /// changed.
    package mutating func update(_ new: FenceDefinition, at time: Timestamp) throws(FenceError) -> FenceEdit {
        try new.check()
        try new.checkTexts(beside: definition)
        // A shape is costly to check, and most changes leave it alone.
        let newShape = new.shape == definition.shape ? shape : try new.checkedShape()
        let edit = FenceEdit(from: definition, shape, to: new, newShape)
        if edit >= .rule {
            guard revision < .max else {
                throw FenceError(.revision, "the fence was changed \(revision) times: delete it and make it anew")
            }
            revision += 1
        }
        if edit == .area { (areaRevision, revisedAt) = (revision, time) }
        if edit != .nothing { modified = time }
        (definition, shape) = (new, newShape)
        return edit
    }

    /// What is judged. `from` is when the fence came to be for the entity, ``created`` or later; `zone` is what the
    /// definition's named time zone stands for.
    ///
    /// - Throws: ``FenceError`` when the weekly windows name a zone and `zone` is nil.
    package func plan(from: Timestamp, zone: ZoneOffsets? = nil) throws(FenceError) -> FencePlan {
        var plan = FencePlan(id: id, revision: revision, shape: shape)
        plan.rule = definition.rule
        plan.initial = definition.isInitialTold
        plan.through = definition.through
        plan.stay = definition.stay
        plan.settle = definition.settle
        plan.denoise = definition.denoise
        plan.floor = definition.floor.flatMap(FloorCode.init(name:))
        plan.altitude = definition.altitude
        plan.validity = try definition.validity?.validity(zone)
        plan.group = definition.group.map { GroupCode(name: $0, watch: definition.watch.scope) }
        plan.speedLimit = definition.speedLimit
        plan.crossingGap = definition.crossingGap
        plan.from = from
        plan.areaRevision = areaRevision
        plan.revisedAt = revisedAt
        return plan
    }
}

/// How much a change of a fence changes.
package enum FenceEdit: Hashable, Sendable, Comparable {
    case nothing
    /// Names, actions, who is watched: the same revision.
    case description
    /// What is told, and when: a new revision; places stay.
    case rule
    /// Shape, denoise, floor or altitude: a new revision; places are set anew, without an alarm.
    case area

    init(from old: FenceDefinition, _ oldShape: Shape, to new: FenceDefinition, _ newShape: Shape) {
        let isSameArea =
            oldShape == newShape && old.denoise == new.denoise && Self.isSame(old.floor, new.floor)
            && old.altitude == new.altitude
        let isSameRule = Self.ruling(old) == Self.ruling(new) && Self.isSame(old.group, new.group)
        self = !isSameArea ? .area : !isSameRule ? .rule : old != new ? .description : .nothing
    }

    /// Floors and groups count byte by byte, and `String` takes two spellings of one text for equal.
    private static func isSame(_ old: String?, _ new: String?) -> Bool {
        old.map { ExactName($0) } == new.map { ExactName($0) }
    }

    /// A definition with nothing in it but what decides which alarms there are.
    private static func ruling(_ definition: FenceDefinition) -> FenceDefinition {
        var ruling = FenceDefinition(ShapeDraft(.point(Degrees(latitude: 0, longitude: 0))))
        ruling.rule = definition.rule
        ruling.stay = definition.stay
        ruling.settle = definition.settle
        ruling.isInitialTold = definition.isInitialTold
        ruling.through = definition.through
        ruling.crossingGap = definition.crossingGap
        ruling.validity = definition.validity
        ruling.speedLimit = definition.speedLimit
        return ruling
    }
}

/// Why a fence was refused. The text names the value, the rule and what to do.
package struct FenceError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Rule: Hashable, Sendable {
        case name
        case shape(ShapeError.Rule)
        case rule
        case stay
        case settle
        case crossingGap
        case denoise
        case floor
        case altitude
        case speedLimit
        case validity
        case zone
        case group
        case watch
        case reaction
        case origin
        case revision
    }

    package let rule: Rule
    package let description: String

    package init(_ rule: Rule, _ description: String) {
        self.rule = rule
        self.description = description
    }
}

extension FenceError {
    /// Throws when a text has more bytes than it may, or none.
    static func checkText(
        _ text: String, _ name: String, _ rule: Rule, most: Int, mayBeEmpty: Bool = false
    ) throws(FenceError) {
        guard mayBeEmpty || !text.isEmpty else {
            throw FenceError(rule, "\(name) is empty: give it a text, or leave it out")
        }
        guard text.utf8.count <= most else {
            throw FenceError(
                rule, "\(name) has \(text.utf8.count) bytes of UTF-8: at most \(most) are kept, shorten it")
        }
    }
}
