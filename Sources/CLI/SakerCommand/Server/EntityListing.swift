import JSON
import Terminal

/// Prints all pages of an answer that lists entities: as a table, or as the server gave them.
struct EntityListing {
    let json: Bool
    let withDistances: Bool
    /// Columns of the terminal; nil: no bound.
    let width: Int?

    private static let pageSize: Int64 = 1000
    private static let maximumPages: Int64 = 1000
    /// The status with which the server says that nothing matched.
    static let nothing: Int64 = 3003

    init(json: Bool, withDistances: Bool = false, width: Int? = nil) {
        self.json = json
        self.width = width
        self.withDistances = withDistances
    }

    /// `ask`: asks for a page with the parameters that it gets. `nothing`: what a person reads when there is no entity.
    func run(nothing: String, _ ask: ([(String, String)]) async throws -> JSONValue) async throws {
        var table = TextTable(
            [.text("ENTITY"), TextTable.Column("LAST POINT", rank: 2), "AGE", "PLACE"]
                + (withDistances ? [.number("DISTANCE")] : []) + [.text("DESCRIPTION", rank: 1)])
        var count: Int64 = 0
        for index in 1...Self.maximumPages {
            let answer = try await ask([("page_index", String(index)), ("page_size", String(Self.pageSize))])
            if json { Output.print(json: answer.description) }
            let entities = answer["entities"]?.arrayValue ?? []
            for entity in entities { table.add(row(entity, now: TimeText.now)) }
            count += Int64(entities.count)
            guard !entities.isEmpty, count < answer["total"]?.integerValue ?? 0 else { break }
        }
        if json { return }
        for line in count == 0 ? [nothing] : table.lines(width: width) { Output.print(line) }
    }

    private func row(_ entity: JSONValue, now: Int64) -> [String] {
        let point = entity["latest_location"]
        let time = (point?["loc_time"]?.integerValue).flatMap {
            (1..<Int64.max / 1000).contains($0) ? $0 * 1000 : nil
        }
        var place = ""
        if time != nil, let latitude = point?["latitude"]?.doubleValue, let longitude = point?["longitude"]?.doubleValue
        {
            place = Quantity.place(latitude, longitude)
        }
        let distance = point?["distance"]?.doubleValue.map { Quantity.decimal($0, 0) + " m" } ?? ""
        return [
            entity["entity_name"]?.stringValue ?? "?", time.map(TimeText.local) ?? "never",
            time.map { TimeText.relative($0, now: now) } ?? "", place,
        ] + (withDistances ? [distance] : []) + [entity["entity_desc"]?.stringValue ?? ""]
    }
}
