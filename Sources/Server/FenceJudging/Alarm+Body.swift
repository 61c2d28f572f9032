import FenceJSON
import TrackModel
package import TrackStore

extension Alarm {
    /// The alarm as pushes carry it; parameters that do not fit into a push are left out.
    package func body(of entity: String, isRemote: Bool) -> String {
        var body = AlarmBody(
            key, of: entity, action: action, fence: fence, revision: revision, name: name,
            point: AlarmBody.Point(point), crossing: crossing)
        body.group = group
        body.previous = previous.map(AlarmBody.Point.init)
        body.inside = inside
        body.skipped = skipped
        body.speedLimit = speedLimit
        body.isRemote = isRemote
        body.parameters = parameters
        return body.text(most: PushRules.maximumBodyBytes)
    }
}

extension AlarmBody.Point {
    fileprivate init(_ point: AlarmPoint) {
        self.init(time: point.time, place: point.place, accuracy: point.accuracy, received: point.received)
    }
}
