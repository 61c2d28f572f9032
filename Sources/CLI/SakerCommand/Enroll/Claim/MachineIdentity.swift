import SecureLink

/// By what a server knows this computer again: its serial number, and a mark that a copy of its disk on another computer
/// does not have.
struct MachineIdentity: Hashable {
    /// Of the manufacturer; nil when there is none that distinguishes computers.
    let serial: String?
    /// SHA-256 of the machine id and the board's UUID, 64 hexadecimal digits. It tells neither.
    let mark: String
    /// Manufacturer and product.
    let model: String?

    /// Reads the files of the kernel and of systemd below `root`. Root alone may read the UUID and serial numbers.
    init(root: String = "") throws(CommandFailure) {
        let dmi = root + "/sys/class/dmi/id/"
        let tree = root + "/proc/device-tree/"
        let boards = [dmi + "product_serial", dmi + "board_serial", tree + "serial-number"].compactMap {
            ComputerTraits.line(of: $0)
        }
        serial = boards.first { Self.distinguishes($0) }
        let traits = ComputerTraits(
            machineID: ComputerTraits.line(of: root + "/etc/machine-id"),
            board: ComputerTraits.line(of: dmi + "product_uuid") ?? boards.first)
        do throws(SecureLinkError) {
            mark = try traits.mark()
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
        let product = [dmi + "sys_vendor", dmi + "product_name"].compactMap { ComputerTraits.line(of: $0) }
            .filter(Self.distinguishes).joined(separator: " ")
        model =
            product.isEmpty
            ? ComputerTraits.line(of: tree + "model") : String(product.prefix(ComputerTraits.maximumCharacters))
    }

    /// What manufacturers write where they have nothing to write.
    private static let fillers: Set<String> = [
        "none", "n/a", "na", "default string", "to be filled by o.e.m.", "not specified", "not applicable", "o.e.m.",
        "system serial number", "system manufacturer", "system product name", "base board serial number", "unknown",
        "serial number", "invalid",
    ]

    static func distinguishes(_ text: String) -> Bool {
        let lower = text.lowercased()
        // "0", "00000000", "xxxxxxx" and "........"
        return !fillers.contains(lower) && Set(lower).count > 1
    }
}
