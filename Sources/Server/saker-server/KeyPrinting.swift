import ConfigurationFile
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

/// Prints what `service create` and `service rotate-key` have made.
func printKey(_ key: ServiceAdministration.NewKey, _ configuration: ServerConfiguration) throws {
    guard key.rights.scopes.contains(.legacyDevice) else { return printKey(key, nil) }
    do throws(ServerError) {
        let enrollment = try configuration.enrollmentString(service: key.service, accessKey: key.accessKey)
        printKey(key, enrollment)
    } catch {
        // The key exists now and must not be lost for want of a host name.
        printKey(key, nil)
        throw error
    }
}

private func printKey(_ key: ServiceAdministration.NewKey, _ enrollment: EnrollmentString?) {
    // A signed key is for clients of the Web API; an agent logs in with a plain one.
    printKey(key.accessKey, key.signingKey == nil ? enrollment : nil)
    if key.rights.end == nil, key.rights.scopes == .former {
        Output.print()
        Output.print(
            "The key also reads and writes all tracks of the service over the Web API. A key that only lets vehicles log in:"
                + " saker-server key create \(key.service.rawValue) --legacy-device")
    }
    guard let signingKey = key.signingKey else { return }
    Output.print("Signing key (sk): \(signingKey.revealed)")
    Output.print(
        key.isSigningKeySealed
            ? "The signing key is stored encrypted."
            : "The signing key is stored readable, because the server needs it to check signatures: whoever can read the "
                + "database can read it. key_file in [store] makes the server encrypt it.")
}

/// Prints an access key and the enrolment string with it.
func printKey(_ accessKey: Secret, _ enrollment: EnrollmentString?) {
    Output.print("Access key (ak): \(accessKey.revealed)")
    Output.print("Its number for `saker-server service disable-key`: \(AccessKey(accessKey.revealed).hash.number)")
    Output.print("Only a hash of the access key is stored: this is the only time it is shown.")
    guard let enrollment else { return }
    Output.print()
    Output.print(
        "Enrolment string: run `saker enroll` with it on a vehicle. It holds the access key; treat it like a password.")
    Output.print()
    Output.print(enrollment.encoded.revealed)
}

/// Prints an enrolment token and the line with it.
func printToken(_ token: TokenRecord, _ line: EnrollmentString) {
    let end = token.end.map { ", until \(TimeText.universal($0))" } ?? ""
    Output.print(
        "Token \(token.number) of service \(token.service.rawValue): for \(counted(token.uses, "vehicle"))\(end)")
    Output.print("Only a hash of the token is stored: this is the only time it is shown.")
    Output.print()
    Output.print("Enrolment line: run `saker enroll` with it on each vehicle. Who has it can make vehicles of yours.")
    Output.print()
    Output.print(line.encoded.revealed)
}
