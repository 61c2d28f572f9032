import AgentControl
import AlarmLog
import DiskRing
import Geofencing
import JSON
import LocalFences
import NIOCore
import NIOEmbedded
import Systemd
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

// The shell of the vehicle's fences with a disk and long work that the test lets go on.
extension FenceShellTests {
    /// Fences on a file that the test lets the disk write.
    final class FenceFileWriter: LocalFenceWriter {
        let file: FenceFile
        var accepts = true
        private var waiting: [() -> Void] = []

        init(_ disk: DiskSimulation) { file = FenceFile(directory: "/state", files: disk) }

        func write(_ fences: KeptFences, nextFence: Int32, on loop: any EventLoop) -> EventLoopFuture<String?>? {
            guard accepts else { return nil }
            let promise = loop.makePromise(of: String?.self)
            waiting.append { [file] in promise.succeed(file.write(fences, nextFence: nextFence)) }
            return promise.futureResult
        }

        func read(on loop: any EventLoop) -> EventLoopFuture<LoadedLocalFences>? {
            loop.makeSucceededFuture(LoadedLocalFences(file))
        }

        func zones(_ names: [String], on loop: any EventLoop) -> EventLoopFuture<[String: ZoneOffsets]>? {
            loop.makeSucceededFuture(
                names.contains("Asia/Shanghai") ? ["Asia/Shanghai": ZoneOffsets(first: 28_800)] : [:])
        }

        func work() {
            let due = waiting
            waiting = []
            for operation in due { operation() }
        }
    }

    /// Work that is done when the test says.
    final class SlowWork: LongWorkExecutor {
        var accepts = true
        private var waiting: [() -> Void] = []

        func perform<Result: Sendable>(
            on loop: any EventLoop, _ work: @escaping @Sendable () -> Result
        ) -> EventLoopFuture<Result>? {
            guard accepts else { return nil }
            let promise = loop.makePromise(of: Result.self)
            waiting.append { promise.succeed(work()) }
            return promise.futureResult
        }

        /// Does the oldest piece.
        func work() {
            if !waiting.isEmpty { waiting.removeFirst()() }
        }

        var count: Int { waiting.count }
    }

    final class Setup {
        let log = EventRecorder()
        let slow = SlowWork()
        let bench: ShellBench
        let disk: DiskSimulation
        let journal: SlowDisk<AlarmJournal>
        let ring: SlowDisk<DiskRing>
        let writer: FenceFileWriter
        private(set) var told: [AlarmReport] = []
        private(set) var hooks: [UInt64] = []
        private(set) var hooksOnce: [AlarmReport] = []
        private(set) var settled: [UInt64] = []
        private(set) var kept = 0
        private(set) lazy var shell = FenceShell(
            bench.context, journal: journal, ring: ring,
            store: LocalFenceStore(
                writer: writer, found: LoadedLocalFences(writer.file), states: journal.subject.fenceStates),
            lastBefore: ring.subject.nextSequence - 1, areHooksOwed: true, longWork: slow
        ) { [unowned self] effect in
            switch effect {
            case .told(let report): told.append(report)
            case .hooksDue(let alarm): hooks.append(alarm.number)
            case .hooksDueOnce(let report): hooksOnce.append(report)
            case .hooksSettled(let number): settled.append(number)
            case .journalIs(let snapshot): kept = snapshot.kept
            }
        }

        init(_ disk: DiskSimulation = DiskSimulation(seed: 1, directories: ["/state", "/"])) throws {
            self.disk = disk
            bench = ShellBench(log: log)
            journal = SlowDisk(AlarmJournal(directory: "/state", fileSystem: disk, now: 0))
            ring = SlowDisk(try DiskRing(directory: "/cache", fileSystem: disk, now: 0))
            writer = FenceFileWriter(disk)
            shell.open()
        }

        /// A circle of 100 m around 52 N 4 E that watches the van.
        func fence(_ name: String = "depot") throws -> Int64 {
            let definition = try FenceForms.definition(
                [
                    "name": .string(name), "watch": ["van"],
                    "shape": ["kind": "circle", "latitude": 52, "longitude": 4, "radius": 100],
                ], in: .createFence)
            return try shell.change(in: .createFence) { (machine) throws(FenceRefusal) in
                let (numbers, actions) = try machine.create([definition], now: SystemTime(milliseconds: 0))
                return (Int64(numbers[0]), actions)
            }
        }

        /// A part of an import of circles of 100 m around 52 N 4 E that watch the van.
        static func part(
            _ features: [String], number: Int64 = 0, isLast: Bool = true, name: String? = "i"
        ) -> FenceImports.Part {
            let text = features.map { feature in
                """
                {"name":"\(feature)","watch":["van"],"origin":{"file":"yards","feature":"\(feature)"},"shape":\
                {"kind":"circle","latitude":52,"longitude":4,"radius":100}}\n
                """
            }.joined()
            return .init(file: "yards", layer: nil, text: text, name: name, number: number, isLast: isLast)
        }

        static func fix(_ second: Int64, north metres: Double, speed: Int32 = 1000) throws -> Fix {
            let place = try #require(Coordinate(latitude: 52 + metres / 111_250, longitude: 4))
            return Fix(
                time: Timestamp(seconds: 1_780_000_000 + second), coordinate: place, speed: speed, accuracy: 30,
                mode: .threeDimensional)
        }

        /// From 300 m north to the middle, 10 m a second, from a second on.
        func driveIn(from second: Int64 = 0) throws {
            for step in 0...30 as ClosedRange<Int64> {
                shell.passed(try Self.fix(second + step, north: 300 - Double(step) * 10), floor: nil)
            }
        }

        func driveOut(from second: Int64) throws {
            for step in 0...30 as ClosedRange<Int64> {
                shell.passed(try Self.fix(second + step, north: Double(step) * 10), floor: nil)
            }
        }

        var actions: [String] { told.map { $0.body["action"]?.stringValue ?? "?" } }
    }
}
