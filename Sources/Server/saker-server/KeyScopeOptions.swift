import ArgumentParser
import ServerRuntime
import TrackModel
import TrackStore

/// What a key may be used for.
struct KeyScopeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What the key may do with the Web API: read, write, admin, or several with commas between them. admin opens "
                + "read and write too.", valueName: "scopes"))
    var scope: String?

    @Flag(
        help: ArgumentHelp(
            "Vehicles may log in with the key, under any name: for vehicles that have no certificate of their own. "
                + "Without --scope such a key opens nothing of the Web API."))
    var legacyDevice = false

    @Option(
        help: ArgumentHelp(
            "The key ends at the begin of this day (UTC), as in 2027-03-01, or at this time, as in 2027-03-01T12:00:00Z.",
            valueName: "time"))
    var until: String?

    @Option(
        help: ArgumentHelp(
            "Requests of the Web API may come only from this address or range, as in 192.0.2.0/24; repeat for more.",
            valueName: "address"))
    var address: [String] = []

    @Option(
        help: ArgumentHelp(
            "Requests of the Web API may come only from pages like this one, as in '*.example.net'; repeat for more.",
            valueName: "pattern"))
    var referer: [String] = []

    /// `usual`: what a key without --scope and --legacy-device may do.
    func rights(usual: KeyScopes) throws(ServerError) -> KeyRights {
        var scopes: KeyScopes = []
        for name in scope?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            guard let known = KeyScopes(name: String(name)), known != .legacyDevice else {
                throw ServerError(.usage, "--scope \(scope ?? "") is not read, write or admin with commas between them")
            }
            scopes.formUnion(known)
        }
        if legacyDevice { scopes.formUnion(.legacyDevice) }
        var rights = KeyRights(scopes.isEmpty ? usual : scopes, end: try end())
        for text in address {
            guard let range = AddressRange(text) else {
                throw ServerError(.usage, "--address \(text) is no IP address, and no range such as 192.0.2.0/24")
            }
            rights.addresses.append(range)
        }
        for text in referer {
            guard let pattern = RefererPattern(text) else {
                throw ServerError(
                    .usage,
                    "--referer \(text) is no pattern: give 1 to \(RefererPattern.mostBytes) bytes without spaces and "
                        + "without http://, as in '*.example.net'")
            }
            rights.referers.append(pattern)
        }
        return rights
    }

    private func end() throws(ServerError) -> Timestamp? {
        guard let until else { return nil }
        guard let end = TimeText.time(until) else {
            throw ServerError(.usage, "--until \(until) is no time: write it as 2027-03-01 or 2027-03-01T12:00:00Z")
        }
        return end
    }
}
