internal import AgentRuntime
internal import JSON
internal import NIOCore
internal import TrackTestKit

/// The programs that the agent runs on events, in virtual time: they end well, fail, die, or hang until they are ended.
final class SimulatedHooks: HookExecutor {
    private struct Dead: Error {}

    private struct Run {
        let hook: String
        let alarm: UInt64?
        let promise: EventLoopPromise<(failure: String?, output: String)>
    }

    let names: [String]
    private let loop: VirtualLoop
    private let process: ProcessLoop
    private var dice: DiskDice
    private var running: [Int: Run] = [:]
    private var lastRun = 0
    private var isStopped = false
    /// Some hooks do not end by themselves.
    var mayHang = true
    /// Before a hook begins with an alarm: its number and its body.
    var onStart: (String, UInt64, String?) -> Void = { _, _, _ in }
    /// A hook has ended by itself, or because its time was over.
    var onEnd: (String, UInt64) -> Void = { _, _ in }
    /// The agent asks which hooks there are.
    var onList: () -> Void = {}

    /// As long as `[hooks] time_limit`, and the time that a hook has to end politely.
    private static let limit: Int64 = 32_000

    init(names: [String], loop: VirtualLoop, process: ProcessLoop, seed: UInt64) {
        self.names = names
        self.loop = loop
        self.process = process
        dice = DiskDice(seed: seed)
    }

    func list(on eventLoop: any EventLoop) -> EventLoopFuture<(hooks: [String], refusals: [String])> {
        onList()
        return eventLoop.makeSucceededFuture((names, []))
    }

    func run(
        _ hook: String, kind: String, input: [UInt8], on eventLoop: any EventLoop
    ) -> EventLoopFuture<(failure: String?, output: String)> {
        let promise = eventLoop.makePromise(of: (failure: String?, output: String).self)
        let fields = (try? JSONReader.value(of: input))?["fields"]
        let number = kind == "alarm" ? fields?["number"]?.integerValue.map { UInt64(clamping: $0) } : nil
        if let number { onStart(hook, number, fields?["body"]?.description) }
        lastRun += 1
        let run = lastRun
        running[run] = Run(hook: hook, alarm: number, promise: promise)
        let (failure, time): (String?, Int64) =
            switch Int.random(in: 0..<20, using: &dice) {
            case 0 where mayHang: ("it took longer than 30 s and was ended", Self.limit)
            case 1, 2: ("it ended with status 1", Int64.random(in: 1...500, using: &dice))
            case 3: ("it was ended by signal 11", Int64.random(in: 1...500, using: &dice))
            case 4: ("it cannot be started", 0)
            default: (nil, Int64.random(in: 1...3000, using: &dice))
            }
        loop.after(time) { [self] in
            guard process.isAlive, let run = running.removeValue(forKey: run) else { return }
            if let number { onEnd(hook, number) }
            run.promise.succeed((failure, ""))
        }
        return promise.futureResult
    }

    /// Kills what runs.
    func shutDown(on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        for run in running.sorted(by: { $0.key < $1.key }) {
            run.value.promise.succeed(("it was ended by signal 9", ""))
        }
        running = [:]
        return eventLoop.makeSucceededVoidFuture()
    }

    /// Its process is dead.
    func forget() {
        for run in running.values { run.promise.fail(Dead()) }
        running = [:]
        (onStart, onEnd, onList) = ({ _, _, _ in }, { _, _ in }, {})
    }
}
