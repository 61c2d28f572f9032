/// Whether two numbers differ by at most the tolerance. False when one of them is no number.
package func near(_ left: Double, _ right: Double, _ tolerance: Double) -> Bool {
    (left - right).magnitude <= tolerance
}
