extension EnrollmentString {
    /// Whether a text begins as an enrolment string of this or a later version does, damaged or not.
    package static func looksLikeOne(_ text: String) -> Bool {
        let trimmed = text.drop { $0.isWhitespace || $0 == "\"" || $0 == "'" }
        let version = trimmed.dropFirst("saker".count).prefix { $0.isASCII && $0.isNumber }
        return trimmed.hasPrefix("saker") && !version.isEmpty
            && trimmed.dropFirst("saker".count + version.count).first == ":"
    }

    /// Takes what a person pasted: white space, line breaks and quotes around it do no harm.
    package init(decoding pasted: String) throws(EnrollmentStringError) {
        guard pasted.utf8.count <= Self.maximumCharacters else {
            throw EnrollmentStringError(
                .notAnEnrollmentString, "over \(Self.maximumCharacters) characters: this is no enrolment string")
        }
        let text = String(pasted.filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" })
        let isToken = text.hasPrefix(Self.tokenPrefix)
        guard isToken || text.hasPrefix(Self.keyPrefix) else {
            let version = text.prefix { $0 != ":" }.dropFirst("saker".count)
            if text.hasPrefix("saker"), text.contains(":"), let number = Int(version), number > 2 {
                throw EnrollmentStringError(
                    .newerVersion, "version \(number) of the enrolment string is newer than this program: update it")
            }
            throw EnrollmentStringError(
                .notAnEnrollmentString,
                "an enrolment string begins with \(Self.keyPrefix) or \(Self.tokenPrefix): copy the whole line that "
                    + "saker-server printed")
        }
        guard let bytes = Base64.decoded(text.dropFirst(Self.keyPrefix.count), alphabet: .urlSafe) else {
            throw EnrollmentStringError(
                .damaged, "the enrolment string holds a character that cannot be in it, or its end is missing")
        }
        guard bytes.count >= 2, bytes.count - 2 >= Self.number(bytes[..<2]) else {
            throw EnrollmentStringError(.truncated, "the end of the enrolment string is missing: copy the whole line")
        }
        guard bytes.count - 2 == Self.number(bytes[..<2]), bytes.count >= 6 else {
            throw EnrollmentStringError(.damaged, "there is something behind the end of the enrolment string")
        }
        let fields = Array(bytes[2..<(bytes.count - 4)])
        guard UInt64(Self.crc32(fields)) == Self.number(bytes.suffix(4)) else {
            throw EnrollmentStringError(
                .damaged, "the checksum of the enrolment string does not match: a character was changed or lost")
        }
        try self.init(fields: fields, isToken: isToken)
    }

    private init(fields: [UInt8], isToken: Bool) throws(EnrollmentStringError) {
        var values: [Tag: ArraySlice<UInt8>] = [:]
        var rest = fields[...]
        while !rest.isEmpty {
            guard rest.count >= 3 else { throw Self.invalid("a field has no length") }
            let tag = rest.removeFirst()
            let length = Int(Self.number(rest.prefix(2)))
            rest = rest.dropFirst(2)
            guard rest.count >= length else { throw Self.invalid("a field is longer than the whole") }
            if let known = Tag(rawValue: tag) { values[known] = rest.prefix(length) }
            rest = rest.dropFirst(length)
        }
        func text(_ tag: Tag) throws(EnrollmentStringError) -> String? {
            guard let bytes = values[tag] else { return nil }
            guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty,
                text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
            else { throw Self.invalid("field \(tag.rawValue) is not a plain text") }
            return text
        }
        guard let host = try text(.host) else { throw Self.invalid("the server's name is missing") }
        guard let portBytes = values[.port], portBytes.count == 2,
            let port = UInt16(exactly: Self.number(portBytes)), port > 0
        else { throw Self.invalid("the port is missing") }
        let serverName = try text(.serverName)
        let trust: Trust
        if let der = values[.certificate] {
            guard (1...Self.maximumCertificateBytes).contains(der.count) else {
                throw Self.invalid("the certificate has \(der.count) bytes, 1...\(Self.maximumCertificateBytes) can be")
            }
            trust = .certificate(Array(der))
        } else if let digest = values[.pinnedKey] {
            guard digest.count == 32 else { throw Self.invalid("the pinned key is no SHA-256") }
            trust = .pinnedKey(Array(digest))
        } else {
            trust = .system
        }
        // A line that means two things must not be read as either.
        guard (values[.token] != nil) == isToken, (values[.accessKey] == nil) == isToken else {
            throw Self.invalid(
                "it must have \(isToken ? "a token and no access key" : "an access key and no token") behind this prefix"
            )
        }
        if isToken {
            guard values[.service] == nil, values[.webAddress] == nil else {
                throw Self.invalid("a line with a token has no service and no address of the Web API")
            }
            guard let token = try text(.token), EnrollmentToken.isOne(token) else {
                throw Self.invalid("its token is none")
            }
            self.init(host: host, port: port, serverName: serverName, token: Secret(token), trust: trust)
            return
        }
        guard let accessKey = try text(.accessKey) else { throw Self.invalid("the access key is missing") }
        guard let serviceBytes = values[.service], serviceBytes.count == 8,
            let service = Int64(exactly: Self.number(serviceBytes)), service > 0
        else { throw Self.invalid("the service's number is missing") }
        self.init(
            host: host, port: port, serverName: serverName, webAddress: try text(.webAddress), service: service,
            accessKey: Secret(accessKey), trust: trust)
    }

    private static func invalid(_ what: String) -> EnrollmentStringError {
        EnrollmentStringError(.invalid, "the enrolment string is whole, but \(what): make a new one with saker-server")
    }
}
