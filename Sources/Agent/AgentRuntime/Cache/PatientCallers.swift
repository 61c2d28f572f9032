internal import NIOCore

/// Callers who wait for the disk, each no longer than it says: a disk that hangs keeps nobody.
final class PatientCallers {
    typealias Answer = (_ isDone: Bool) -> Void

    private let timers: ShellTimers<UInt64>
    private var waiting: [UInt64: Answer] = [:]
    private var last: UInt64 = 0

    init(_ context: ShellContext) {
        timers = ShellTimers(context)
    }

    /// `then` is called once: by ``answer(_:isDone:)`` with the number that is returned, or with false after the time.
    func wait(milliseconds: Int64, then: @escaping Answer) -> UInt64 {
        last += 1
        let number = last
        waiting[number] = then
        timers.set(number, milliseconds: milliseconds) { [self] in answer(number, isDone: false) }
        return number
    }

    /// Does nothing for a caller who has waited long enough.
    func answer(_ number: UInt64, isDone: Bool) {
        timers.cancel(number)
        waiting.removeValue(forKey: number)?(isDone)
    }

    /// Nobody waits any more.
    func shutDown() {
        timers.cancelAll()
        for number in waiting.keys.sorted() { answer(number, isDone: false) }
    }
}
