@testable import AgentRuntime
@testable import ConfigurationFile
@testable import ServerRuntime

/// The configuration files: what a person may write.
enum ConfigurationProperties {
    @Sendable static func check(_ input: [UInt8]) throws {
        guard let text = String(validating: input, as: UTF8.self) else { return }
        let lines = 1 + input.count { $0 == 0x0A }
        // A text that must come through, whatever it is; only NUL is refused, because C would cut the text there.
        if !input.contains(0) {
            let quoted = try TOMLDocument("key = \(TOMLText.quoted(text))", path: "quoted")
            guard case .string(let back)? = quoted.root["key"], Array(back.utf8) == input else {
                throw Violation(description: "a quoted text is read as another one")
            }
        }
        let reader: ConfigurationReader
        do throws(ConfigurationError) {
            // Files that the text names are looked for where there are none.
            reader = try ConfigurationReader(text: text, path: "/nonexistent/saker.toml")
        } catch {
            return try checkError(error, lines)
        }
        try check(lines) { () throws(ConfigurationError) in try AgentConfiguration.read(reader).effective }
        try check(lines) { () throws(ConfigurationError) in try ServerConfiguration.read(reader).effective }
    }

    private static func check(
        _ lines: Int, _ read: () throws(ConfigurationError) -> EffectiveConfiguration
    ) throws(Violation) {
        let effective: EffectiveConfiguration
        do throws(ConfigurationError) {
            effective = try read()
        } catch {
            return try checkError(error, lines)
        }
        do throws(ConfigurationError) {
            _ = try TOMLDocument(effective.toml, path: "effective")
        } catch {
            throw Violation(description: "the configuration in force is no TOML: \(error)")
        }
    }

    private static func checkError(_ error: ConfigurationError, _ lines: Int) throws(Violation) {
        try require(!error.problems.isEmpty, "an error without a problem")
        for problem in error.problems {
            try require(!problem.message.isEmpty, "a problem without a reason")
            try require(problem.line.map { (1...lines).contains($0) } ?? true, "line \(problem.line ?? 0) of \(lines)")
        }
    }
}

/// The enrolment string: what a person may paste.
enum EnrolmentProperties {
    /// First byte: odd when the rest are fields, which are wrapped as they should be, behind the prefix of lines with a
    /// token when the second bit is set; else the rest is the string.
    @Sendable static func check(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let first = reader.byte()
        let prefix = first & 2 == 0 ? EnrolmentString.keyPrefix : EnrolmentString.tokenPrefix
        let text = first & 1 == 1 ? prefix + wrapped(Array(reader.rest)) : String(decoding: reader.rest, as: UTF8.self)
        let decoded: EnrolmentString
        do throws(EnrolmentStringError) {
            decoded = try EnrolmentString(decoding: text)
        } catch {
            return try require(!error.detail.isEmpty, "an error without a reason")
        }
        let again = try EnrolmentString(decoding: decoded.encoded.revealed)
        try require(again == decoded, "an enrolment changes on its way")
        let key =
            switch decoded.credential {
            case .accessKey(let secret), .token(let secret): secret.revealed
            }
        // A made-up key may be short, or the name of the host.
        let open = [decoded.host, decoded.serverName ?? "", decoded.webAddress ?? ""]
        try require(
            key.utf8.count < 12 || open.contains { $0.contains(key) } || !"\(decoded)".contains(key), "the key shows")
    }

    private static func wrapped(_ fields: [UInt8]) -> String {
        let length = UInt16(clamping: fields.count + 4)
        var sum = UInt32.max
        for byte in fields {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        sum = ~sum
        let head = [UInt8(length >> 8), UInt8(truncatingIfNeeded: length)]
        let tail = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
        return Base64.encoded(head + fields + tail, alphabet: .urlSafe)
    }
}
