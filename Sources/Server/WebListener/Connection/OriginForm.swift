/// The target of a request without the scheme and the host that a client names to a proxy.
///
/// Behind the decoder an address with a host would be taken apart by rules for whole addresses. When it has a character
/// that should have been encoded, such as |, they encode all of it once more, and each %E4 of it means other text.
enum OriginForm {
    static func of(_ target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/") else { return target }
        for scheme in ["http://", "https://"] where target.prefix(scheme.count).lowercased() == scheme {
            let rest = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" && $0 != "#" }
            return rest.first == "/" ? String(rest) : "/\(rest)"
        }
        return target
    }
}
