import Glibc
import Properties

// libFuzzer has the `main`; it calls these two. Which input is meant is said by SAKER_FUZZ, because libFuzzer refuses
// arguments that it does not know.

/// Before the first input: who is asked for.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    if getenv("SAKER_FUZZ_LIST") != nil {
        for property in Property.all { print(property.name) }
        exit(0)
    }
    guard current != nil else {
        say("SAKER_FUZZ must name one of: \(Property.all.map(\.name).joined(separator: " "))")
        exit(2)
    }
    return 0
}

private let current: Property? = getenv("SAKER_FUZZ").flatMap { name in
    Property.all.first { $0.name == String(cString: name) }
}

/// One input; aborts when its property does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    do {
        try current?.check(input)
    } catch {
        say("violated: \(error)")
        abort()
    }
    return 0
}

private func say(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
}
