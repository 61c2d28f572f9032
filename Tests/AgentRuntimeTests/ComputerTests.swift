import DiskRing
import Foundation
import Logging
import ProgramTestKit
import SecureLink
import Testing
import TrackModel
import TrackTestKit

@testable import AgentRuntime

/// The agent notices that its disk is in another computer.
@Suite struct ComputerTests {
    private let stream = StreamID(high: 1, low: 0xAB)
    private let name = "000000000000000100000000000000ab"
    private let home = ComputerTraits(machineID: "m1", board: "b1")

    private func verdict(
        _ noted: ComputerRecord?, _ traits: ComputerTraits, _ stream: StreamID? = nil
    ) throws -> ComputerChange {
        try ComputerChange(noted, traits, stream: stream ?? self.stream)
    }

    private func write(_ text: String, _ directory: TemporaryDirectory, _ path: String) throws {
        let file = URL(fileURLWithPath: directory.path + path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    @Test func theFirstStartIsNotedAndLaterOnesAreTheSame() throws {
        let first = try verdict(nil, home)
        let note = try #require(first.note)
        #expect(!first.isMoved && !first.isNew && note.leaving == nil)
        let mark = try home.mark()
        #expect(note.mark == mark && note.parts == 3)
        #expect(try verdict(note, home).note == nil)
    }

    @Test(arguments: [("m2", "b1"), ("m1", "b2"), ("m2", "b2")])
    func anotherComputerLeavesTheStreamUntilItIsLeft(machine: String, board: String) throws {
        let note = try #require(try verdict(nil, home).note)
        let other = ComputerTraits(machineID: machine, board: board)
        let moved = try verdict(note, other)
        #expect(moved.isMoved && moved.isNew)
        let kept = try #require(moved.note)
        let mark = try other.mark()
        #expect(kept.leaving == name && kept.mark == mark)
        // The next start, before the ring was empty.
        let again = try verdict(kept, other)
        #expect(again.isMoved && !again.isNew && again.note == nil)
        // And one behind it.
        let left = try verdict(kept, other, StreamID(high: 9, low: 9))
        #expect(!left.isMoved && left.note?.leaving == nil && left.note?.mark == kept.mark)
        // A copy of the copy.
        let third = try verdict(kept, ComputerTraits(machineID: "m3", board: "b3"))
        #expect(third.isMoved && third.isNew)
    }

    @Test func whatWasNotKnownBeforeIsNoDifference() throws {
        let bare = ComputerTraits(machineID: "m1", board: nil)
        let note = try #require(try verdict(nil, bare).note)
        #expect(note.parts == 1)
        let upgraded = try verdict(note, home)
        let mark = try home.mark()
        #expect(!upgraded.isMoved && upgraded.note?.parts == 3 && upgraded.note?.mark == mark)
        // What is not known any more does not make the note poorer.
        let rich = try #require(upgraded.note)
        let poorer = try verdict(rich, bare)
        #expect(!poorer.isMoved && poorer.note == nil)
        #expect(try verdict(rich, ComputerTraits(machineID: nil, board: nil)).note == nil)
        // What both know is compared.
        #expect(try verdict(note, ComputerTraits(machineID: "m2", board: "b1")).isMoved)
        #expect(try verdict(nil, ComputerTraits(machineID: nil, board: nil)).note == nil)
    }

    @Test func theAgentAndTheCommandLineMakeTheSameMark() throws {
        let directory = try TemporaryDirectory()
        try write("0123456789abcdef0123456789abcdef\n", directory, "/etc/machine-id")
        try write("11111111-2222-3333-4444-555555555555\n", directory, "/sys/class/dmi/id/product_uuid")
        // As MachineIdentityTests have it.
        #expect(
            try ComputerTraits.ofAgent(root: directory.path).mark()
                == "b6cbf429a218eec915269b1637b7061c804eae2a64b977c70062719cef49b125")
        let board = try TemporaryDirectory()
        try write("10000000abcdef01\0", board, "/sys/firmware/devicetree/base/serial-number")
        #expect(
            ComputerTraits.ofAgent(root: board.path) == ComputerTraits(machineID: nil, board: "10000000abcdef01"))
    }

    @Test func theRingOfACopyLeavesItsStreamWhenItIsEmpty() throws {
        let directory = try TemporaryDirectory()
        func open() throws -> DiskRing {
            try DiskRing(directory: directory.path + "/cache", now: MonotonicTime(milliseconds: 0))
        }
        func look(_ cache: DiskRing, _ traits: ComputerTraits) -> Bool {
            ComputerChangeCheck(
                file: ComputerFile(directory: directory.path), traits: traits,
                log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ).look(at: cache, now: MonotonicTime(milliseconds: 0))
        }
        let now = MonotonicTime(milliseconds: 0)
        let other = ComputerTraits(machineID: "m1", board: "b2")
        let first = try open()
        let old = first.streamID
        #expect(!look(first, home))
        first.append(entity: "car", time: 1, payload: [1], now: now)
        first.close(now: now)

        let copy = try open()
        #expect(look(copy, other) && copy.streamID == old)
        copy.close(now: now)
        // A restart does not forget it.
        let again = try open()
        #expect(look(again, other) && again.streamID == old)
        _ = again.read(after: 0, maximumCount: 10, maximumBytes: 1000, now: now)
        again.acknowledge(through: again.nextSequence - 1, of: old, now: now)
        let new = again.streamID
        #expect(new != old)
        again.close(now: now)
        let later = try open()
        #expect(!look(later, other) && later.streamID == new)
    }
}
