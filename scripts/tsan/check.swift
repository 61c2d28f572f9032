// What scripts/test-tsan tries the sanitizer with before the tests: `mutex` has no race, `race` has one behind the same
// lock, `beside` has one beside it.
import Dispatch
import Glibc
import Synchronization

final class Shared: @unchecked Sendable {
    let protected = Mutex([Int: Int]())
    var naked = 0
}

let shared = Shared()
let manner = CommandLine.arguments.dropFirst().first ?? ""
DispatchQueue.concurrentPerform(iterations: 4) { thread in
    for round in 0..<200 {
        if manner == "beside" { shared.naked += 1 }
        shared.protected.withLock { state in
            state[thread] = round
            // Long enough for the others to wait.
            if round.isMultiple(of: 9) { usleep(200) }
        }
        if manner == "race" { shared.naked = shared.protected.withLock(\.count) }
    }
}
