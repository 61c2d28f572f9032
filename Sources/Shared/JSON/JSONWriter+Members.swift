// A member's name and value in one call, for what answers are mostly made of.
extension JSONWriter {
    package mutating func member(_ name: String, _ text: String) {
        self.name(name)
        string(text)
    }

    package mutating func member(_ name: String, _ value: Int64) {
        self.name(name)
        integer(value)
    }

    package mutating func member(_ name: String, _ value: Int) {
        member(name, Int64(value))
    }

    package mutating func member(_ name: String, _ value: Double) {
        self.name(name)
        double(value)
    }

    /// An array of what `body` writes.
    package mutating func array<Failure: Error>(
        _ name: String, _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.name(name)
        try array(body)
    }

    /// An object of the members that `body` writes.
    package mutating func object<Failure: Error>(
        _ name: String, _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.name(name)
        try object(body)
    }
}
