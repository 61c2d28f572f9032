import Foundation
import ProgramTestKit
import Testing

@testable import SakerCommand

@Suite struct MachineIdentityTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ text: String, _ path: String) throws {
        let file = URL(fileURLWithPath: directory.path + path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private var found: MachineIdentity { get throws { try MachineIdentity(root: directory.path) } }

    @Test func aComputerIsKnownByItsBoardAndItsId() throws {
        try write("0123456789abcdef0123456789abcdef\n", "/etc/machine-id")
        try write("ACME\n", "/sys/class/dmi/id/sys_vendor")
        try write("Box 3\n", "/sys/class/dmi/id/product_name")
        try write("Default string\n", "/sys/class/dmi/id/product_serial")
        try write("B-77\n", "/sys/class/dmi/id/board_serial")
        try write("11111111-2222-3333-4444-555555555555\n", "/sys/class/dmi/id/product_uuid")
        let first = try found
        #expect(first.serial == "B-77" && first.model == "ACME Box 3")
        // printf '%s\n%s' ID UUID | sha256sum
        #expect(first.mark == "b6cbf429a218eec915269b1637b7061c804eae2a64b977c70062719cef49b125")
        try write("21111111-2222-3333-4444-555555555555\n", "/sys/class/dmi/id/product_uuid")
        #expect(try found.mark != first.mark)
        try write("11111111-2222-3333-4444-555555555555\n", "/sys/class/dmi/id/product_uuid")
        #expect(try found == first)
        try write("1123456789abcdef0123456789abcdef\n", "/etc/machine-id")
        #expect(try found.mark != first.mark)
    }

    @Test func aBoardWithoutDMIHasTheSerialNumberOfItsDeviceTree() throws {
        try write("10000000abcdef01\0", "/proc/device-tree/serial-number")
        try write("Raspberry Pi 4 Model B Rev 1.4\0", "/proc/device-tree/model")
        let box = try found
        #expect(box.serial == "10000000abcdef01" && box.model == "Raspberry Pi 4 Model B Rev 1.4")
        try write("10000000abcdef02\0", "/proc/device-tree/serial-number")
        #expect(try found.mark != box.mark)
    }

    @Test(arguments: ["To Be Filled By O.E.M.", "None", "0", "00000000", "xxxxxx", "Not Specified", "\u{1B}[1m", "  "])
    func aFillerIsNoSerialNumber(text: String) throws {
        try write(text + "\n", "/sys/class/dmi/id/product_serial")
        #expect(try found.serial == (text.hasPrefix("\u{1B}") ? "[1m" : nil))
        #expect(try found.mark.count == 64)
    }
}
