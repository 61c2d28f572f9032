/// A `gx:Track` of KML while it is read: times, places, and lists of what else they have.
struct KMLTrack {
    let line: Int
    private(set) var times: [String] = []
    private(set) var places: [String] = []
    private(set) var lists: [(name: String, values: [String])] = []
    var data = KMLData()
    private var hasTimesFirst = true
    private var alternates = true

    init(line: Int) { self.line = line }

    /// No time or place was left out among those that were read: either all times stand first, or each before its place.
    var isInOrder: Bool { hasTimesFirst || alternates }

    mutating func add(time: String) {
        if !places.isEmpty { hasTimesFirst = false }
        if times.count != places.count { alternates = false }
        times.append(time)
    }

    mutating func add(place: String) {
        if times.count != places.count + 1 { alternates = false }
        places.append(place)
    }

    mutating func add(list name: String) { lists.append((name, [])) }

    mutating func add(value: String) {
        if let last = lists.indices.last { lists[last].values.append(value) }
    }

    /// Of a file that breaks off: the first ones of all belong together.
    mutating func cut() {
        let count = min(times.count, places.count)
        times.removeLast(times.count - count)
        places.removeLast(places.count - count)
        lists = lists.filter { $0.values.count >= count }.map {
            (name: $0.name, values: Array($0.values.prefix(count)))
        }
    }

    /// `outer`: the data of the placemark, which count where the track says nothing.
    func points(_ outer: KMLData) -> [FilePoint] {
        func place(_ index: Int) -> String { "line \(line), point \(index + 1)" }
        guard times.count == places.count else {
            // One that is missing may be any of them.
            let reason =
                "the track has \(times.count) times and \(places.count) places: which belong together is not known"
            return (0..<max(times.count, places.count)).map { FilePoint(place: place($0), problem: reason) }
        }
        let whole = lists.filter { $0.values.count == places.count }
        var points = lists.filter { $0.values.count != places.count }.map { list in
            FilePoint(
                place: "line \(line)",
                problem:
                    "the list \(TrackFileError.quoted(list.name)) has \(list.values.count) values and the track \(places.count) places: the list is not read"
            )
        }
        for index in times.indices {
            var point = FilePoint(place: place(index))
            KMLTrackReader.set(places[index], in: &point)
            if !times[index].isEmpty { point.fields[.time] = times[index] }
            var choice = KMLFieldChoice(point)
            for (name, values) in whole where !name.isEmpty && !values[index].isEmpty {
                choice.set(values[index], FilePoint.Field.named(name), name, in: &point)
            }
            data.set(in: &point)
            outer.set(in: &point)
            points.append(point)
        }
        return points
    }
}
