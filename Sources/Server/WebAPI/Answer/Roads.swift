import JSON

/// What an answer says of road data.
enum Roads {
    /// The client asked for roads, and no road engine is set up.
    static func writeOff(to object: inout JSONWriter) {
        object.object("roads") { $0.member("state", "off") }
    }
}
