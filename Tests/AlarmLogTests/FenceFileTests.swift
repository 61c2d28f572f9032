import Testing
import TrackCache
import TrackTestKit

@testable import AlarmLog

@Suite struct FenceFileTests {
    private let disk = DiskSimulation(seed: 1, directories: ["/var", "/var/saker"])
    private var file: FenceFile { FenceFile(directory: "/var/saker", files: disk) }

    private func content(_ count: Int) -> FenceFile.Content {
        FenceFile.Content(
            nextFence: Int32(count) * 3 + 1,
            fences: (1...count).map { number in
                .init(number: Int32(number) * 3, bytes: [UInt8](repeating: UInt8(number % 256), count: number))
            })
    }

    @Test func whatWasWrittenIsReadAlsoAfterAPowerCut() {
        #expect(file.read() == .absent)
        for count in [1, 40, 3] {
            #expect(file.write(content(count)) == nil)
            disk.crash(seed: UInt64(count))
            #expect(file.read() == .read(content(count)))
        }
        #expect(file.write(.init(nextFence: 41)) == nil)
        #expect(file.read() == .read(.init(nextFence: 41)))
    }

    /// docs/formats/fences.md shows these bytes.
    @Test func theBytesAreThoseOfTheDocument() {
        let bytes = FenceFile.encode(.init(nextFence: 16, fences: [.init(number: 15, bytes: [0xAB, 0xCD])]))
        let digits = Array("0123456789abcdef")
        let text = bytes.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: " ")
        #expect(
            text
                == "53 41 4b 45 52 2d 46 45 01 00 00 00 3b 07 79 7e 10 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 "
                + "0e 00 00 00 3f 31 33 a4 0f 00 00 00 ab cd")
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func aPowerCutLeavesTheOldFileOrTheNewOne(seed: UInt64) {
        var cut = 0
        while true {
            let disk = DiskSimulation(seed: seed, directories: ["/var", "/var/saker"])
            disk.hasShortTransfers = seed % 2 == 0
            let file = FenceFile(directory: "/var/saker", files: disk)
            #expect(file.write(content(30)) == nil)
            disk.callsUntilPowerFailure = cut
            let isWritten = file.write(content(50)) == nil
            let wasCut = !disk.hasPower
            disk.crash(seed: seed &* 100 &+ UInt64(cut))
            let found = file.read()
            let isOld = !isWritten && found == .read(content(30))
            #expect(isOld || found == .read(content(50)), "seed \(seed), cut \(cut)")
            guard wasCut else { break }
            cut += 1
        }
        #expect(cut >= 4)
    }

    @Test func aDamagedFenceIsLostTheOthersAreNotAndTheFileIsKeptAside() {
        #expect(file.write(content(9)) == nil)
        let original = disk.contents(of: file.path)
        // In the third fence.
        disk.flip(bit: 2, at: 32 + 13 + 14 + 13, of: file.path)
        var sound = content(9)
        sound.fences.remove(at: 2)
        #expect(file.read() == .damaged(sound: sound, lost: 1, aside: "/var/saker/fences.data.damaged"))
        #expect(disk.contents(of: file.path) == nil)
        #expect(disk.contents(of: "/var/saker/fences.data.damaged")?.count == original?.count)
        #expect(file.read() == .absent)
    }

    @Test func aForeignFileIsKeptAside() {
        for bytes in [[], Array("hello".utf8), [UInt8](repeating: 0, count: 4096)] {
            disk.plant(bytes, at: file.path)
            #expect(file.read() == .damaged(sound: .init(), lost: 0, aside: "/var/saker/fences.data.damaged"))
            #expect(disk.contents(of: "/var/saker/fences.data.damaged") == bytes)
        }
    }

    @Test func aDiskThatRefusesIsTold() {
        #expect(file.write(content(9)) == nil)
        disk.faults = [DiskFault([.read], times: 1, number: 5)]
        #expect(file.read() == .unreadable("/var/saker/fences.data: pread: EIO (the disk reports an error)"))
        #expect(file.read() == .read(content(9)))
        for operation in [CacheFileError.Operation.open, .write, .synchronize, .rename, .synchronizeDirectory] {
            disk.faults = [DiskFault([operation], times: 1, number: 28)]
            #expect(file.write(content(5))?.contains("ENOSPC") == true, "\(operation)")
            disk.faults = []
            #expect(disk.openFileCount == 0)
            #expect(file.write(content(9)) == nil)
        }
        disk.flip(bit: 0, at: 40, of: file.path)
        disk.isReadOnly = true
        guard case .unreadable(let reason) = file.read() else {
            Issue.record("a damaged file that cannot be put aside")
            return
        }
        #expect(reason.contains("damaged and cannot be put aside"))
    }

    /// Any bytes at all: no crash, and nothing that was not written.
    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func aFileWithAnythingInItIsRead(seed: UInt64) {
        var dice = DiskDice(seed: seed)
        var bytes = FenceFile.encode(content(12))
        for _ in 0..<Int.random(in: 1...6, using: &dice) where !bytes.isEmpty {
            switch Int.random(in: 0..<3, using: &dice) {
            case 0: bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: .min ... .max, using: &dice)
            case 1: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &dice))
            default: bytes += (0..<Int.random(in: 1...99, using: &dice)).map { _ in .random(in: 0...255, using: &dice) }
            }
        }
        let (found, _) = FenceFile.decode(bytes)
        #expect(found.fences.allSatisfy { content(12).fences.contains($0) }, "seed \(seed)")
        #expect(found.nextFence > found.fences.last?.number ?? 0, "seed \(seed)")
    }
}
