/// A vertex in units of 1e-7 degree from the south-west corner of its shape's box.
package struct GridOffset: Hashable, Sendable {
    /// To the east, 0 ... 3,600,000,000.
    package let x: UInt32
    /// To the north, 0 ... 1,800,000,000.
    package let y: UInt32

    package init(x: UInt32, y: UInt32) {
        self.x = x
        self.y = y
    }
}
