internal import DriveSimulation
internal import Foundation

/// Writes the true positions as CSV. Each line is in the file before its epoch is sent.
struct TruthFile {
    private let path: String
    private let handle: FileHandle

    init(path: String) throws {
        self.path = path
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else {
            throw SimulationError(.truthFile, "\(path): cannot be created: \(String(cString: strerror(errno)))")
        }
        self.handle = handle
        try write(SimulatedDrive.Epoch.truthHeader)
    }

    func append(_ epoch: SimulatedDrive.Epoch) throws {
        try write(epoch.truthRow)
    }

    private func write(_ line: String) throws {
        do {
            try handle.write(contentsOf: Data((line + "\n").utf8))
        } catch {
            throw SimulationError(.truthFile, "\(path): cannot be written: \(error.localizedDescription)")
        }
    }
}
