package import AgentControl
import FenceCommands
import FenceJSON
import Geodesy
package import Geofencing
import JSON

extension LocalFenceReport: HeldFence {
    /// Nil for a fence of a version that this program does not know.
    package var definition: FenceDefinition? {
        // A large shape is left out of lists.
        let none = ShapeDraft(.point(Degrees(latitude: 0, longitude: 0)))
        return try? FenceDefinition(json: fence, shape: none)
    }

    package var hasShape: Bool { fence["shape"] != nil }

    /// For people.
    var shown: ShownFence {
        var shown = ShownFence(
            number: id, revision: revision, definition: definition, vertices: vertices, created: created,
            modified: modified)
        (shown.hasShape, shown.trouble) = (hasShape, trouble)
        return shown
    }
}
