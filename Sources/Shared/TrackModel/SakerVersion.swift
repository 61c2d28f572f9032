/// What this build calls itself: one version for every program of the package.
package enum SakerVersion {
    package static let text = "0.1.0"
    /// Seconds since 1970: when this version was made (2026-11-21). A system clock before it is wrong for certain.
    package static let madeAt: Int64 = 1_795_219_200
}
