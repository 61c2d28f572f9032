internal import Geodesy
internal import Geofencing
internal import TrackModel

/// What may be told of enters and exits, and what must be, by the true way of the vehicle.
///
/// It knows the rules only as bounds: how far from the edge a vehicle can be while a point lets it in or out, and where two
/// points in a row leave no choice. Fences with a settle time, altitudes or a floor are left out: the first tell a place of before, the
/// others let a vehicle out that has not moved. Of those with `denoise` or with a validity nothing is missed.
struct TruthModel {
    /// What of a plan begins a fence anew.
    private struct Terms: Hashable {
        let revision: Int32
        let areaRevision: Int32
        let from: Timestamp
        let revisedAt: Timestamp

        init(_ plan: FencePlan) {
            (revision, areaRevision, from) = (plan.revision, plan.areaRevision, plan.from)
            revisedAt = plan.revisedAt
        }
    }

    /// Where the vehicle surely is for the rules, whatever its points say.
    private enum Side { case inside, outside }

    private struct Course {
        let terms: Terms
        let shape: PlainShape
        var side: Side?
        /// Of the newest points in a row.
        var seen: Side?
        var count = 0
        /// The newest alarm since the side is known, or since the fence is.
        var told: FenceAction?
    }

    private let way: TrueWay
    private var courses: [String: [Int32: Course]] = [:]

    /// Metres of error that count at most, and what two slow points must show on top.
    private static let largestError = 50.0
    private static let slowMargin = 20.0
    /// Points in a row that leave no choice: two, and three for a place that is not known yet.
    private static let enough = 2
    private static let enoughToFind = 3

    init(_ way: TrueWay) {
        self.way = way
    }

    // MARK: Events

    /// Everything about the entity begins anew.
    mutating func forget(_ entity: String) { courses[entity] = nil }

    mutating func forget(_ fence: Int32, of entity: String) { courses[entity]?[fence] = nil }

    /// A point of the entity was judged by these fences, and these alarms follow.
    mutating func judged(
        _ point: FencePoint, of entity: String, by fences: [(plan: FencePlan, draft: ShapeDraft)],
        _ alarms: ArraySlice<FenceAlarm>
    ) throws(Violation) {
        var known = courses[entity] ?? [:]
        var next: [Int32: Course] = [:]
        for (plan, draft) in fences where plan.settle == 0 && plan.altitude == nil && plan.floor == nil {
            let terms = Terms(plan)
            var course = known.removeValue(forKey: plan.id)
            if course?.terms != terms { course = PlainShape(draft).map { Course(terms: terms, shape: $0) } }
            guard var course else { continue }
            let own = alarms.filter {
                $0.fence == plan.id && $0.group == nil && ($0.action == .enter || $0.action == .exit)
            }
            for alarm in own { try check(alarm, with: own, of: entity, plan, &course) }
            if plan.denoise == 0, plan.validity == nil, point.time >= plan.from {
                try follow(point, of: entity, plan, &course)
            }
            next[plan.id] = course
        }
        courses[entity] = next
    }

    // MARK: What is told is true

    private func check(
        _ alarm: FenceAlarm, with others: [FenceAlarm], of entity: String, _ plan: FencePlan, _ course: inout Course
    ) throws(Violation) {
        let former = course.told ?? course.side.map { $0 == .inside ? .enter : .exit }
        course.told = alarm.action
        if Self.tellsBoth(plan), former == alarm.action {
            throw broken("\(FenceAlarmText.text(alarm, of: entity)) follows another one")
        }
        guard let here = way[alarm.point.time.milliseconds] else { return }
        let distance = course.shape.distance(to: here.place)
        let isTrue =
            switch alarm.action {
            case .enter: distance + Self.depth(alarm, plan, course) <= here.error || passes(alarm, plan, course)
            default:
                distance + here.error > Self.error(alarm.point) + (Self.areSlow(alarm) ? Self.slowMargin : 0)
                    || isVisit(others, plan) && passes(alarm, plan, course)
            }
        guard !isTrue else { return }
        throw broken(
            "\(FenceAlarmText.text(alarm, of: entity)) is told, and the vehicle was \(Int(abs(distance))) m "
                + "\(distance < 0 ? "inside" : "outside"); its point lies \(Int(here.error)) m beside it at most")
    }

    /// Metres inside that two slow points must show.
    private static func depth(_ alarm: FenceAlarm, _ plan: FencePlan, _ course: Course) -> Double {
        // The first place of an entity is found without this rule.
        guard areSlow(alarm), !plan.initial || course.side != nil else { return 0 }
        return min(error(alarm.point), course.shape.width / 4)
    }

    /// Both changes by one point: a visit between two points. Of a fence that does not tell both at each time, nobody knows.
    private func isVisit(_ alarms: [FenceAlarm], _ plan: FencePlan) -> Bool {
        alarms.count > 1 || !Self.tellsBoth(plan)
    }

    private static func tellsBoth(_ plan: FencePlan) -> Bool {
        plan.rule.contains(.enter) && plan.rule.contains(.exit) && plan.validity == nil
    }

    /// Whether the straight way between both points leads deeper through the fence than their errors allow to doubt.
    private func passes(_ alarm: FenceAlarm, _ plan: FencePlan, _ course: Course) -> Bool {
        guard let previous = alarm.previous, let start = way[previous.time.milliseconds],
            let end = way[alarm.point.time.milliseconds],
            alarm.point.time.milliseconds(since: previous.time) <= Int64(plan.crossingGap) * 1000
        else { return false }
        let allowed = max(start.error, end.error) - max(Self.error(previous), Self.error(alarm.point))
        let pieces = 2000
        let length = course.shape.length(from: start.place, to: end.place)
        return (0...pieces).contains { piece in
            let share = Double(piece) / Double(pieces)
            let place = Degrees(
                latitude: start.place.latitude + share * (end.place.latitude - start.place.latitude),
                longitude: start.place.longitude + share * (end.place.longitude - start.place.longitude))
            return course.shape.distance(to: place) <= allowed + length / Double(pieces)
        }
    }

    // MARK: What is true is told

    private func follow(
        _ point: FencePoint, of entity: String, _ plan: FencePlan, _ course: inout Course
    ) throws(Violation) {
        guard let here = way[point.time.milliseconds] else { return (course.seen, course.count) = (nil, 0) }
        let distance = course.shape.distance(to: here.place)
        var seen: Side?
        if distance <= -(here.error + course.shape.width / 4) { seen = .inside }
        if distance > here.error + Self.largestError + Self.slowMargin { seen = .outside }
        course.count = seen == nil ? 0 : seen == course.seen ? course.count + 1 : 1
        course.seen = seen
        guard let seen, course.count >= (course.side == nil ? Self.enoughToFind : Self.enough) else { return }
        let action: FenceAction = seen == .inside ? .enter : .exit
        if let side = course.side, side != seen, plan.rule.contains(seen == .inside ? .enter : .exit),
            course.told != action
        {
            throw broken(
                "\(entity) was \(Int(abs(distance))) m \(seen == .inside ? "inside" : "outside") of fence "
                    + "\(plan.id).\(plan.revision) at \(point.time.milliseconds) and at the point before, and no "
                    + "\(action.rawValue) was told since it was on the other side")
        }
        if course.side != seen { (course.side, course.told) = (seen, nil) }
    }

    // MARK: Points

    /// Metres that count, as the rules say.
    private static func error(_ point: FencePoint) -> Double {
        point.accuracy.map { min(largestError, Double($0) / 10) } ?? 10
    }

    private static func areSlow(_ alarm: FenceAlarm) -> Bool {
        func isSlow(_ point: FencePoint) -> Bool { point.speed.map { $0 < 150 } ?? false }
        return isSlow(alarm.point) && alarm.previous.map(isSlow) ?? true
    }

    private func broken(_ detail: String) -> Violation {
        Violation(guarantee: .fences, detail: "by the true way: " + detail)
    }
}

/// Where the vehicle really was, epoch by epoch, and how far at most a point of this time may lie beside it.
///
/// One of a history: whoever checks alarms looks here.
final class TrueWay {
    struct Place {
        let place: Degrees
        /// Metres.
        var error: Double
    }

    private var places: [Int64: Place] = [:]

    /// Metres. The receiver's noise is 300 units of 1e-7 degree at most, north and east.
    static let noise = 5.0
    /// A reflection puts 3,000 of these on top, north.
    static let reflection = 39.0
    /// A parked vehicle is told at its place until fixes lie farther away than this, with the largest error that counts.
    static let parking = 40.0

    func note(_ place: Degrees, at time: Int64, isReflected: Bool) {
        places[time] = Place(place: place, error: isReflected ? Self.reflection : Self.noise)
    }

    /// The point of this time tells the place where the vehicle parked.
    func parked(at time: Int64) {
        let key = places[time] == nil ? time + 1 : time
        // The fix of this time was found near the place.
        places[key]?.error += Self.parking
    }

    /// Reports of one epoch differ by a millisecond.
    subscript(time: Int64) -> Place? { places[time] ?? places[time + 1] }
}

/// What points must carry: the values that were set last, in a plain dictionary, without those that ran out.
struct AttributeModel {
    /// The service's track columns.
    static let columns: [String: AttributeType] = ["fuel": .integer, "load": .double, "driver": .string]
    /// Needs no column. Empty: nobody knows it.
    static let floorKey = "floor"
    /// No column: points are stored without it.
    static let unknownKey = "colour"

    private var values: [String: (value: AttributeValue, expires: MonotonicTime?)] = [:]

    /// `expires`: nil for no limit.
    mutating func set(_ new: [String: AttributeValue], expires: MonotonicTime? = nil) {
        for (key, value) in new { values[key] = (value, expires) }
    }

    mutating func clear(_ keys: [String]?) {
        for key in keys ?? Array(values.keys) { values[key] = nil }
    }

    /// Of a point that is gathered now, as it is to be stored.
    func carried(at now: MonotonicTime) -> [String: AttributeValue] {
        values.filter { key, held in
            (Self.columns[key] != nil || key == Self.floorKey && held.value != .string(""))
                && held.expires.map { now < $0 } ?? true
        }.mapValues(\.value)
    }

    /// By which a fix is judged now.
    func floor(at now: MonotonicTime) -> String? {
        if case .string(let name)? = carried(at: now)[Self.floorKey] { name } else { nil }
    }
}
