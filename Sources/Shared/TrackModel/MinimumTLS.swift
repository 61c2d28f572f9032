/// The oldest version of TLS that a program accepts. The raw values are those of the configuration files.
package enum MinimumTLS: String, Hashable, Sendable, CaseIterable {
    case v12 = "1.2"
    case v13 = "1.3"
}
