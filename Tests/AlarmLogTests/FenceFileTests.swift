import DiskRing
import Testing
import TrackTestKit

@testable import AlarmLog

/// Fences and the number of the next one.
private struct Content: Equatable {
    var nextFence: Int32 = 1
    var fences: [FenceFile.StoredFence] = []
}

private enum Found: Equatable {
    case absent
    case read(Content)
    case damaged(sound: Content, lost: Int, aside: String)
    case unreadable(String)
}

extension FenceFile {
    fileprivate func found(_ isSound: (StoredFence) -> Bool = { _ in true }) -> Found {
        var fences: [StoredFence] = []
        let reading = read { fence in
            guard isSound(fence) else { return false }
            fences.append(fence)
            return true
        }
        switch reading {
        case .absent: return .absent
        case .read(let next): return .read(Content(nextFence: next, fences: fences))
        case .damaged(let next, let lost, let aside):
            return .damaged(sound: Content(nextFence: next, fences: fences), lost: lost, aside: aside)
        case .unreadable(let reason): return .unreadable(reason)
        }
    }

    fileprivate func write(_ content: Content) -> String? { write(content.fences, nextFence: content.nextFence) }
}

@Suite struct FenceFileTests {
    private let disk = DiskSimulation(seed: 1, directories: ["/var", "/var/saker"])
    private var file: FenceFile { FenceFile(directory: "/var/saker", files: disk) }

    private func content(_ count: Int) -> Content {
        Content(
            nextFence: Int32(count) * 3 + 1,
            fences: (1...count).map { number in
                .init(number: Int32(number) * 3, bytes: [UInt8](repeating: UInt8(number % 256), count: number))
            })
    }

    @Test func whatWasWrittenIsReadAlsoAfterAPowerCut() {
        #expect(file.found() == .absent)
        for count in [1, 40, 3] {
            #expect(file.write(content(count)) == nil)
            disk.crash(seed: UInt64(count))
            #expect(file.found() == .read(content(count)))
        }
        #expect(file.write(.init(nextFence: 41)) == nil)
        #expect(file.found() == .read(.init(nextFence: 41)))
    }

    /// docs/formats/fences.md shows these bytes.
    @Test func theBytesAreThoseOfTheDocument() {
        let bytes = FenceFile.encode([.init(number: 15, bytes: [0xAB, 0xCD])], nextFence: 16)
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
            let found = file.found()
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
        #expect(file.found() == .damaged(sound: sound, lost: 1, aside: "/var/saker/fences.data.damaged"))
        #expect(disk.contents(of: file.path) == nil)
        #expect(disk.contents(of: "/var/saker/fences.data.damaged")?.count == original?.count)
        #expect(file.found() == .absent)
    }

    @Test func aFenceThatNobodyUnderstandsIsLost() {
        #expect(file.write(content(9)) == nil)
        var sound = content(9)
        let last = sound.fences.removeLast()
        #expect(
            file.found { $0 != last } == .damaged(sound: sound, lost: 1, aside: "/var/saker/fences.data.damaged"))
    }

    @Test func aForeignFileIsKeptAside() {
        for bytes in [[], Array("hello".utf8), [UInt8](repeating: 0, count: 4096)] {
            disk.plant(bytes, at: file.path)
            #expect(file.found() == .damaged(sound: .init(), lost: 0, aside: "/var/saker/fences.data.damaged"))
            #expect(disk.contents(of: "/var/saker/fences.data.damaged") == bytes)
        }
    }

    @Test func aDiskThatRefusesIsTold() {
        #expect(file.write(content(9)) == nil)
        disk.faults = [DiskFault([.read], times: 1, number: 5)]
        #expect(file.found() == .unreadable("/var/saker/fences.data: pread: EIO (the disk reports an error)"))
        #expect(file.found() == .read(content(9)))
        for operation in [CacheFileError.Operation.open, .write, .synchronize, .rename, .synchronizeDirectory] {
            disk.faults = [DiskFault([operation], times: 1, number: 28)]
            #expect(file.write(content(5))?.contains("ENOSPC") == true, "\(operation)")
            disk.faults = []
            #expect(disk.openFileCount == 0)
            #expect(file.write(content(9)) == nil)
        }
        disk.flip(bit: 0, at: 40, of: file.path)
        disk.isReadOnly = true
        guard case .unreadable(let reason) = file.found() else {
            Issue.record("a damaged file that cannot be put aside")
            return
        }
        #expect(reason.contains("damaged and cannot be put aside"))
    }

    /// Any bytes at all: no crash, and nothing that was not written.
    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func aFileWithAnythingInItIsRead(seed: UInt64) {
        var dice = DiskDice(seed: seed)
        var bytes = FenceFile.encode(content(12).fences, nextFence: content(12).nextFence)
        for _ in 0..<Int.random(in: 1...6, using: &dice) where !bytes.isEmpty {
            switch Int.random(in: 0..<3, using: &dice) {
            case 0: bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: .min ... .max, using: &dice)
            case 1: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &dice))
            default: bytes += (0..<Int.random(in: 1...99, using: &dice)).map { _ in .random(in: 0...255, using: &dice) }
            }
        }
        var fences: [FenceFile.StoredFence] = []
        let (nextFence, _) = FenceFile.decode(bytes) { fence in
            fences.append(fence)
            return true
        }
        #expect(fences.allSatisfy { content(12).fences.contains($0) }, "seed \(seed)")
        #expect(nextFence > fences.last?.number ?? 0, "seed \(seed)")
    }
}
