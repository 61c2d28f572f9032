import Geodesy
import TrackAnalysis
import TrackModel
package import TrackStore

/// Computes the frequent routes of one entity: finds its trips, groups them, and reads the trip that stands for each group as
/// `gettrack` would show it.
struct FrequentRouteWork {
    /// Points of a job: a month of one a second, and some more.
    static let mostPoints = 4_000_000
    static let mostTrips = 2000
    /// Routes of an answer, and the points of all of them.
    static let mostRoutes = 100
    static let mostShownPoints = 20_000
    /// Points that are read at one time.
    private static let pointsAtOnce = 20_000
    private static let day: Int64 = 86_400_000

    let call: APICall
    let store: any PointStore
    let order: RouteJobOrder
    let processing: RouteProcessing

    /// Asks `goesOn` again and again. Nil: it was told to stop. Throws ``TrackStoreError``, after which the same work may succeed.
    func run(while goesOn: () async throws -> Bool) async throws -> RouteJobResult? {
        do {
            guard let found = try await trips(while: goesOn) else { return nil }
            let zone = call.options.zoneMinutes
            var entries: [RouteGrouping.Entry] = []
            for trip in found.trips {
                guard try await goesOn() else { return nil }
                entries.append(RouteGrouping.Entry(trip, places: found.track.places(of: trip)))
            }
            var grouping = RouteGrouping(entries, span: order.minutes * 60, zoneMinutes: zone)
            while grouping.step() {
                // Each step may take some milliseconds of a thread that others wait for.
                await Task.yield()
                guard try await goesOn() else { return nil }
            }
            guard !grouping.isTooMuch else {
                throw APIFailure(
                    .tooManyPointsToAnalyse,
                    "it takes too long to compare the ways of \(entries.count) trips: make the time between start_time and"
                        + " end_time shorter")
            }
            let groups = grouping.routes()
            let shown = groups.prefix(Self.mostRoutes)
            var routes: [FoundRoutes.Route] = []
            for group in shown {
                guard try await goesOn() else { return nil }
                let trip = found.trips[group.representative]
                let (distance, points) = try await content(of: trip, found.track)
                routes.append(
                    FoundRoutes.Route(
                        trips: group.trips.count, distance: distance, duration: max(0, trip.duration),
                        departures: group.departures, arrivals: group.arrivals,
                        points: Self.thinned(points, most: max(2, Self.mostShownPoints / shown.count))))
            }
            return .routes(
                FoundRoutes(
                    trips: found.trips.count, routes: routes, leftOut: groups.count - routes.count, holes: found.holes
                ).encoded)
        } catch let refusal as APIFailure {
            return .refused(status: Int64(refusal.status.rawValue), reason: refusal.detail)
        } catch let error as TrackStoreError where error.code == .unknownEntity {
            return .refused(status: Int64(APIStatus.noEntity.rawValue), reason: "")
        }
    }

    // MARK: Trips

    private struct Trips {
        let trips: [Trip]
        let track: RouteTrack
        let holes: [TrackHole]
    }

    private var option: ProcessOption? { processing.option.map { ProcessOption(parsing: $0) } }

    /// Nil: it was told to stop.
    private func trips(while goesOn: () async throws -> Bool) async throws -> Trips? {
        var cleaner = TrackCleaner(option?.cleaning(call.options.analysis) ?? CleaningOptions())
        var (finder, track) = (TripFinder(), RouteTrack())
        var (kept, holes, count) = ([TrackSample](), [TrackHole](), 0)
        func take() {
            for sample in kept {
                finder.add(sample)
                track.add(sample)
            }
            kept.removeAll(keepingCapacity: true)
        }
        var (from, stretch) = (order.from, Self.day)
        while from <= order.through {
            guard try await goesOn() else { return nil }
            let through = min(order.through, from.adding(milliseconds: stretch - 1))
            guard let part = try await part(from, through) else {
                guard stretch > 1 else {
                    throw APIFailure(.tooManyPointsToAnalyse, "a millisecond has more than \(Self.pointsAtOnce) points")
                }
                stretch = (stretch + 1) / 2
                continue
            }
            holes += part.holes
            count += part.points.count
            guard count <= Self.mostPoints else {
                throw APIFailure(
                    .tooManyPointsToAnalyse,
                    "the range has more than \(Self.mostPoints) points: make the time between start_time and end_time shorter"
                )
            }
            TrackColumns.blocks(of: part.points.points) { columns, _ in
                cleaner.add(columns, to: &kept)
                take()
            }
            // The last time of all has none after it.
            guard through < order.through else { break }
            from = through.adding(milliseconds: 1)
            stretch = min(Self.day, stretch * 2)
            await Task.yield()
        }
        cleaner.finish(to: &kept)
        take()
        call.note(holes)
        let trips = finder.finish()
        guard trips.count <= Self.mostTrips else {
            throw APIFailure(
                .tooManyPointsToAnalyse,
                "the range has \(trips.count) trips, and a job takes \(Self.mostTrips): make the time between start_time and"
                    + " end_time shorter")
        }
        return Trips(trips: trips, track: track, holes: holes)
    }

    /// Nil: too many points to be read at one time.
    private func part(_ from: Timestamp, _ through: Timestamp) async throws -> StoredTrack? {
        do {
            return try await store.track(
                of: order.entity.text, in: call.service, from: from, through: through, limit: Self.pointsAtOnce)
        } catch {
            guard error.code == .tooManyPoints else { throw error }
            return nil
        }
    }

    // MARK: The trip that stands for a route

    private func content(
        of trip: Trip, _ track: RouteTrack
    ) async throws -> (distance: Double, points: [FoundRoutes.Point]) {
        let range = TrackRange(
            service: call.service, entity: order.entity, from: trip.start.timestamp, through: trip.end.timestamp)
        let query = TrackQuery(
            range: range, option: option, supplement: processing.supplement, showsRoutes: true, slowBelow: nil,
            explanation: .none)
        do {
            let reading = try await TrackReading.reading(query, call, store)
            let total = reading.length.total(query.supplement.supplement(reading.roads.routes, call.options.analysis))
            let points = reading.points.map { shown in
                // Who asks for a route wants its line: attributes are those of one drive.
                FoundRoutes.Point(
                    point: TrackPoint(shown.stored.point.fix, coordinateType: shown.stored.point.coordinateType),
                    supplement: shown.supplement.map { Int64($0.rawValue) })
            }
            return (total.metres, points)
        } catch let error as TrackStoreError where error.code == .tooManyPoints {
            // More than an answer of `gettrack` may have: the places alone.
            let places = zip(track.places(of: trip), track.times(of: trip)).compactMap { place, time in
                Coordinate(latitude: place.latitude, longitude: place.longitude).map {
                    FoundRoutes.Point(
                        point: TrackPoint(Fix(time: Timestamp(milliseconds: time), coordinate: $0)), supplement: nil)
                }
            }
            return (trip.distance + (processing.supplement == .none ? 0 : trip.unrecorded), places)
        }
    }

    /// At most so many, evenly, with both ends.
    private static func thinned(_ points: [FoundRoutes.Point], most: Int) -> [FoundRoutes.Point] {
        guard points.count > most, most > 1 else { return points }
        return (0..<most).map { points[$0 * (points.count - 1) / (most - 1)] }
    }
}

extension APIRouter {
    /// What whoever asks for a job gets that failed so often.
    package static func routesThatFailed(attempts: Int) -> RouteJobResult {
        .refused(
            status: Int64(APIStatus.internalError.rawValue),
            reason:
                "the job failed \(attempts) times, and the server's log says why: call frequentroute/createjob again in an"
                + " hour")
    }

    /// Computes the routes of a job. Nil: `goesOn`, which is asked again and again, said no.
    ///
    /// Throws ``TrackStoreError``, after which the same job may succeed.
    package func frequentRoutes(
        _ job: RouteJobRecord, while goesOn: () async throws -> Bool
    ) async throws -> RouteJobResult? {
        guard let processing = RouteProcessing(text: job.order.processing) else {
            return .refused(
                status: Int64(APIStatus.internalError.rawValue),
                reason: "the processing of the job cannot be read: call frequentroute/createjob again")
        }
        let work = FrequentRouteWork(
            call: call("frequentroute/createjob", of: job.service, at: now()), store: store, order: job.order,
            processing: processing)
        return try await work.run(while: goesOn)
    }
}
