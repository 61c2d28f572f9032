import JSON

/// What a file says of the roads of its track: whether it is on roads, and whose map they are of.
package struct WrittenRoads: Hashable, Sendable {
    /// A sentence for people.
    package var text: String
    /// By the names of the Web API: `used`, `partly`, `none`, `off`, `unavailable`.
    package var state: String
    /// The share of the points on roads, 0 to 1; nil when there are none.
    package var matched: Double?
    /// Whoever shows the track must show this text.
    package var attribution: String?

    package init(text: String, state: String, matched: Double? = nil, attribution: String? = nil) {
        (self.text, self.state, self.matched, self.attribution) = (text, state, matched, attribution)
    }

    /// The member `roads` of the Web API.
    var json: String {
        var json = JSONWriter()
        json.object { roads in
            roads.member("state", state)
            if let matched {
                roads.name("matched")
                roads.rounded(matched, digits: 3)
            }
            if let attribution { roads.member("attribution", attribution) }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
