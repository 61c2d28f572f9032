internal import ConfigurationFile
internal import SecureLink

extension ComputerTraits {
    /// What the agent may know of its computer. Root alone reads the UUID of a board, so systemd passes it on as a credential; the
    /// serial number of a board with a device tree is readable by everybody.
    static func ofAgent(root: String = "") -> ComputerTraits {
        let credential = (try? Secret.credential(named: "machine-uuid"))?.flatMap { line(in: Array($0.revealed.utf8)) }
        let board =
            credential ?? line(of: root + "/sys/class/dmi/id/product_uuid")
            // The sandbox of the unit hides this directory's usual name, /proc/device-tree.
            ?? line(of: root + "/sys/firmware/devicetree/base/serial-number")
        return ComputerTraits(machineID: line(of: root + "/etc/machine-id"), board: board)
    }
}
