/// Names and addresses of machines.
extension ConfigurationReader {
    /// The name or address of a machine; a problem when it is neither.
    package mutating func host(_ table: String, _ key: String, default fallback: String) -> String {
        checkedHost(string(table, key, default: fallback), table, key)
    }

    /// Nil when not given.
    package mutating func optionalHost(_ table: String, _ key: String) -> String? {
        optionalString(table, key).map { checkedHost($0, table, key) }
    }

    /// A problem when missing, too.
    package mutating func requiredHost(_ table: String, _ key: String, hint: String = "") -> String {
        checkedHost(requiredString(table, key, hint: hint), table, key)
    }

    private mutating func checkedHost(_ host: String, _ table: String, _ key: String) -> String {
        if !host.isEmpty, let rule = HostName.problem(with: host) {
            reject(table, key, "\(key) = \(TOMLNode.string(host).excerpt): \(rule)")
        }
        return host
    }
}
