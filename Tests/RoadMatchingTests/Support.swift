import Geodesy
import TrackModel
import TrackTestKit

@testable import RoadMatching
@testable import TrackAnalysis

/// A sample at a place of the made road: metres along it, and metres to its left.
func sample(
    _ index: Int, _ seconds: Double, along: Double, left: Double = 0, speed: Double? = nil, radius: Double? = nil
) -> TrackSample {
    let place = MadeRoad.place(along, left: left)
    return TrackSample(
        index: index, time: 1_767_600_000_000 + Int64((seconds * 1000).rounded()),
        latitudeE7: Int32((place.latitude * 1e7).rounded()), longitudeE7: Int32((place.longitude * 1e7).rounded()),
        speed: speed.map { Int32($0 * 100) }, accuracy: radius.map { Int32($0 * 10) })
}

extension RoadReply {
    init(_ text: String, status: Int = 200) { self.init(status: status, body: Array(text.utf8)) }
}

/// What Valhalla 3.9.1 answered on a map of Andorra. Map data: © OpenStreetMap contributors, ODbL 1.0.
enum RecordedAnswers {
    /// Ten fixes (latitude, longitude, seconds) on both sides of a tunnel of 2.9 km in which there is no fix.
    static let tunnelFixes: [(Double, Double, Int64)] = [
        (42.5299166, 1.5204789, 1767690220), (42.5300668, 1.5207896, 1767690225), (42.5299292, 1.521047, 1767690230),
        (42.5295379, 1.5214201, 1767690235), (42.5290767, 1.5219562, 1767690240), (42.5185153, 1.5542869, 1767690400),
        (42.5182034, 1.5548231, 1767690405), (42.5180334, 1.5550945, 1767690410), (42.5177655, 1.555113, 1767690415),
        (42.5176716, 1.5554869, 1767690420),
    ]

    /// The answer to all ten: it has a hole and no flag for it.
    static let tunnelTrace = #"""
        {"units":"kilometers",
        "shape":"mgybpAutx{AUeBmBwF}EkGtI_Pb]k[`Vk[tsS}b~@lCcGlD}HlJyS~DwMvBhAfD^PA`FaBdCcDp@kBt@qF?iCE[",
        "edges":[{"way_id":173922994,"tunnel":false,"toll":false,"use":"road","end_shape_index":2,
        "begin_shape_index":0,"road_class":"primary","length":0.016,"source_percent_along":0.323,
        "names":["Avinguda Sant Antoni","CG-3"]},{"way_id":173922994,"tunnel":false,"toll":false,"use":"road",
        "end_shape_index":3,"begin_shape_index":2,"road_class":"primary","length":0.017,
        "names":["Avinguda Sant Antoni","CG-3"]},{"way_id":173168829,"tunnel":false,"toll":false,"use":"road",
        "end_shape_index":6,"begin_shape_index":3,"road_class":"primary","length":0.15,"target_percent_along":0.758},
        {"way_id":124673950,"tunnel":false,"toll":false,"use":"road","end_shape_index":8,"begin_shape_index":7,
        "road_class":"primary","length":0.013,"source_percent_along":0.321},{"way_id":124673944,"tunnel":false,
        "toll":false,"use":"road","end_shape_index":9,"begin_shape_index":8,"road_class":"primary","length":0.016},
        {"way_id":124673944,"tunnel":false,"toll":false,"use":"road","end_shape_index":11,"begin_shape_index":9,
        "road_class":"primary","length":0.056},{"way_id":124673945,"tunnel":false,"toll":false,"use":"road",
        "end_shape_index":13,"begin_shape_index":11,"road_class":"primary","length":0.017},{"way_id":124673945,
        "tunnel":false,"toll":false,"use":"road","end_shape_index":14,"begin_shape_index":13,"road_class":"primary",
        "length":0.001},{"way_id":124673945,"tunnel":false,"toll":false,"use":"road","end_shape_index":16,
        "begin_shape_index":14,"road_class":"primary","length":0.023},{"way_id":124673945,"tunnel":false,"toll":false,
        "use":"road","end_shape_index":20,"begin_shape_index":16,"road_class":"primary","length":0.022,
        "target_percent_along":0.317}],"matched_points":[{"lon":1.520474,"lat":42.529926,"type":"matched",
        "edge_index":0,"distance_along_edge":0.323368,"distance_from_trace_point":1.178609},{"lon":1.520812,
        "lat":42.530086,"type":"matched","edge_index":2,"distance_along_edge":0.015343,
        "distance_from_trace_point":2.83298},{"lon":1.521053,"lat":42.529934,"type":"matched","edge_index":2,
        "distance_along_edge":0.14672,"distance_from_trace_point":0.795578},{"lon":1.521425,"lat":42.52954,
        "type":"matched","edge_index":2,"distance_along_edge":0.416745,"distance_from_trace_point":0.538705},
        {"lon":1.521963,"lat":42.529081,"type":"matched","edge_index":2,"distance_along_edge":0.758293,
        "distance_from_trace_point":0.8118},{"lon":1.554282,"lat":42.518511,"type":"matched","edge_index":3,
        "distance_along_edge":0.321793,"distance_from_trace_point":0.562875},{"lon":1.55483,"lat":42.51821,
        "type":"matched","edge_index":5,"distance_along_edge":0.471037,"distance_from_trace_point":1.02895},
        {"lon":1.55514,"lat":42.518074,"type":"matched","edge_index":5,"distance_along_edge":1.0,
        "distance_from_trace_point":5.87467},{"lon":1.555155,"lat":42.517793,"type":"matched","edge_index":8,
        "distance_along_edge":0.659979,"distance_from_trace_point":4.660351},{"lon":1.555478,"lat":42.517692,
        "type":"matched","edge_index":9,"distance_along_edge":0.317348,"distance_from_trace_point":2.391712}],
        "alternate_paths":[]}
        """#

    /// The route between the two fixes at the tunnel.
    static let tunnelRoute = #"""
        {"routes":[{"weight_name":"auto","weight":126.093,"duration":140.039,"distance":2917.484,
        "legs":[{"via_waypoints":[],"admins":[{}],"weight":126.093,"duration":140.039,
        "steps":[{"intersections":[{"entry":[true],"bearings":[138],"duration":2.296,"admin_index":0,"out":0,
        "weight":2.123,"geometry_index":0,"location":[1.521964,42.529081]},{"entry":[true,false],"classes":["tunnel"],
        "in":1,"bearings":[119,318],"duration":137.424,"admin_index":0,"out":0,"weight":123.682,"geometry_index":2,
        "location":[1.522355,42.528763]},{"bearings":[127,300],"entry":[true,false],"in":1,"admin_index":0,"out":0,
        "geometry_index":6,"location":[1.554221,42.518545]}],"maneuver":{"instruction":"Drive southeast.",
        "type":"depart","bearing_after":138,"bearing_before":0,"location":[1.521964,42.529081]},"name":"",
        "duration":140.039,"distance":2917.484,"driving_side":"left","weight":126.093,"mode":"driving",
        "geometry":"qrwbpAwq{{ApCsDhNyQ|b@muAbqCgiOt`EgaWzeGucRbAyB"},{"intersections":[{"bearings":[307],
        "entry":[true],"in":0,"admin_index":0,"geometry_index":7,"location":[1.554282,42.518511]}],
        "maneuver":{"instruction":"You have arrived at your destination.","type":"arrive","bearing_after":0,
        "bearing_before":127,"location":[1.554282,42.518511]},"name":"","duration":0.000,"distance":0.000,
        "driving_side":"left","weight":0.000,"mode":"driving","geometry":"}}bbpAsuz}A??"}],"distance":2917.484,
        "summary":""}],"geometry":"qrwbpAwq{{ApCsDhNyQ|b@muAbqCgiOt`EgaWzeGucRbAyB"}],"waypoints":[{"distance":0.083,
        "name":"","location":[1.521964,42.529081]},{"distance":0.057,"name":"","location":[1.554282,42.518511]}],
        "code":"Ok"}
        """#

    static let nothingMatched =
        #"{"error_code":444,"error":"Map Match algorithm failed to find path: "#
        + #"map_snap algorithm failed to snap the shape points to the correct shape.","status_code":400,"status":"Bad Request"}"#
    static let tooFewPoints =
        #"{"error_code":123,"error":"Insufficient shape provided","status_code":400,"status":"Bad Request"}"#
    static let noSegment =
        #"{"code":"NoSegment","message":"One of the supplied input coordinates could not snap to street segment."}"#
}
