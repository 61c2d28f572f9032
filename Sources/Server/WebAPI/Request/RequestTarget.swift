/// Where a request goes: path and query of its target.
struct RequestTarget: Sendable {
    /// Generations of the published API whose paths mean the same calls: its own browser sample asks for both.
    private static let versions: Set<Substring> = ["v2", "v3"]
    private static let mostPathBytes = 1024

    /// As sent, without scheme, host and query.
    let path: String
    /// As sent, without the question mark.
    let query: Substring
    /// `module/action` of the call; nil when the path is not below the API's base address.
    let endpoint: String?
    /// The path is below `/api` or `/trace`, of any version: clients of the API read the answer.
    let isOfAPI: Bool

    init(_ target: String) {
        var rest = Substring(target)
        // Absolute form, as a client sends it to a proxy.
        for scheme in ["http://", "https://"]
        where String(decoding: rest.utf8.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme {
            rest = Substring(rest.utf8.dropFirst(scheme.utf8.count))
            rest = Substring(rest.utf8.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
        }
        rest = Substring(rest.utf8.prefix { $0 != UInt8(ascii: "#") })
        let question = rest.utf8.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        path = String(rest[..<question])
        query = question == rest.endIndex ? "" : rest[rest.utf8.index(after: question)...]
        let parts = Self.parts(of: path)
        isOfAPI = parts.first.map { ["api", "trace"].contains($0) } ?? false
        // The British spelling of one call.
        endpoint =
            isOfAPI && parts.count >= 2 && Self.versions.contains(parts[1][...])
            ? parts.dropFirst(2).joined(separator: "/").replacing("drivingbehaviour", with: "drivingbehavior") : nil
    }

    /// The path as the documentation writes it, for signatures.
    /// The documentation has no path for what is no call: there it is the path as sent.
    var usualPath: String { endpoint.flatMap { Endpoint.named[$0] }.map { "/api/v3/\($0.path)" } ?? path }

    /// Clients really send white space at the end, doubled slashes and capitals.
    private static func parts(of path: String) -> [String] {
        // No call has so long a path.
        guard path.utf8.count <= mostPathBytes else { return [] }
        // What is not UTF-8 is a part that no call has, and the rest still says whose path it is.
        let text = FormEncoding.repaired(path.utf8, plusIsSpace: false).lowercased()
        return TextParts.split(text, at: "/").map { Parameters.trimmed($0) }.filter { !$0.isEmpty }
    }
}
