internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import SecureLink
internal import TrackModel
internal import TrackWire

/// A simulated fleet that makes load for a server. It speaks Saker Track Protocol 1 over TLS.
package enum SimulatedFleet {
    /// Carries out the plan and closes every connection. Tells `progress` in a few words how far it is.
    ///
    /// A refused point, a connection that the server closes, and a wrong acknowledgement each end the run with an
    /// error.
    package static func run(
        _ plan: FleetPlan, progress: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(FleetError) -> FleetReport {
        try plan.check()
        try raiseFileLimit(toHold: plan.vehicles + 256)
        let tls = try context(of: plan)
        let drives = try DriveFrames.drives(for: plan, now: systemTime())
        let group = MultiThreadedEventLoopGroup(numberOfThreads: plan.threads)
        let result: Result<FleetReport, FleetError>
        do {
            result = .success(try await run(plan, drives, tls, group, progress))
        } catch let error as FleetError {
            result = .failure(error)
        } catch {
            result = .failure(FleetError(.connection, "\(error)"))
        }
        try? await group.shutdownGracefully()
        return try result.get()
    }

    private static func run(
        _ plan: FleetPlan, _ drives: [DriveFrames], _ tls: TLSContext, _ group: MultiThreadedEventLoopGroup,
        _ progress: @Sendable (String) -> Void
    ) async throws -> FleetReport {
        let run = UInt64.random(in: .min ... .max)
        let loops = plan.threads
        var members: [Member] = []
        for index in 0..<min(loops, plan.vehicles) {
            let eventLoop = group.next()
            let (connected, finished) = (
                eventLoop.makePromise(of: Void.self), eventLoop.makePromise(of: Void.self)
            )
            let loop = try await eventLoop.submit {
                NIOLoopBound(
                    FleetLoop(
                        plan: plan, numbers: Array(stride(from: index, to: plan.vehicles, by: loops)),
                        drives: drives, tls: tls, run: run, eventLoop: eventLoop, connected: connected,
                        finished: finished),
                    eventLoop: eventLoop)
            }.get()
            members.append(
                Member(
                    eventLoop: eventLoop, loop: loop, connected: connected.futureResult, finished: finished.futureResult
                ))
        }
        do {
            let report = try await drive(plan, members, progress)
            await close(members)
            return report
        } catch {
            await close(members)
            throw error
        }
    }

    /// An event loop, as other threads see it.
    private struct Member: Sendable {
        let eventLoop: any EventLoop
        let loop: NIOLoopBound<FleetLoop>
        let connected: EventLoopFuture<Void>
        let finished: EventLoopFuture<Void>
    }

    private static func drive(
        _ plan: FleetPlan, _ members: [Member], _ progress: @Sendable (String) -> Void
    ) async throws -> FleetReport {
        let began = NIODeadline.now()
        for member in members { member.eventLoop.execute { member.loop.value.connect() } }
        try await all(members.map(\.connected), on: members)
        progress("connected \(plan.vehicles)")
        let start = NIODeadline.now() + .milliseconds(20)
        for member in members {
            member.eventLoop.scheduleTask(deadline: start) { member.loop.value.start(at: start) }
        }
        try await all(members.map(\.finished), on: members)
        let end = NIODeadline.now()
        var counts: [FleetCounts] = []
        for member in members { counts.append(try await member.eventLoop.submit { member.loop.value.counts }.get()) }
        return report(plan, counts, began: began, start: start, end: end)
    }

    /// Waits for all of them. The first failure ends the wait at once.
    private static func all(_ futures: [EventLoopFuture<Void>], on members: [Member]) async throws {
        guard let eventLoop = members.first?.eventLoop else { return }
        try await EventLoopFuture.andAllSucceed(futures, on: eventLoop).get()
    }

    private static func close(_ members: [Member]) async {
        for member in members {
            // A goodbye is not necessary: a server that is gone accepts none.
            let closed = member.eventLoop.flatSubmit { member.loop.value.close() }
            let limit = member.eventLoop.scheduleTask(in: .seconds(15)) {}
            closed.whenComplete { _ in limit.cancel() }
            try? await limit.futureResult.get()
        }
    }

    private static func report(
        _ plan: FleetPlan, _ all: [FleetCounts], began: NIODeadline, start: NIODeadline, end: NIODeadline
    ) -> FleetReport {
        var sum = FleetCounts()
        for counts in all {
            sum.logins += counts.logins
            sum.batches += counts.batches
            sum.points += counts.points
            sum.heartbeats += counts.heartbeats
            sum.pushes += counts.pushes
            sum.bytesSent += counts.bytesSent
            sum.bytesReceived += counts.bytesReceived
            sum.login.merge(counts.login)
            sum.acknowledgement.merge(counts.acknowledgement)
            sum.lag.merge(counts.lag)
        }
        let connected = seconds((all.compactMap(\.lastLogin).max() ?? end) - began)
        let passed = seconds((all.compactMap(\.lastAcknowledgement).max() ?? end) - start)
        return FleetReport(
            mode: plan.mode.rawValue, vehicles: sum.logins, connectSeconds: connected,
            handshakesPerSecond: Double(sum.logins) / connected, login: .init(sum.login), seconds: passed,
            batches: sum.batches, batchesPerSecond: Double(sum.batches) / passed, points: sum.points,
            pointsPerSecond: Double(sum.points) / passed, acknowledgement: .init(sum.acknowledgement),
            lag: .init(sum.lag), heartbeats: sum.heartbeats, pushes: sum.pushes,
            bytesSent: sum.bytesSent, bytesReceived: sum.bytesReceived)
    }

    private static func seconds(_ amount: TimeAmount) -> Double { max(1, Double(amount.nanoseconds)) / 1e9 }

    private static func context(of plan: FleetPlan) throws(FleetError) -> TLSContext {
        var options = TLSClientOptions(
            trust: plan.trust, serverName: plan.serverName, applicationProtocol: WireLimits.applicationProtocol)
        // As vehicles that the server has never seen.
        options.resumesSessions = false
        do {
            return try TLSContext(options)
        } catch {
            throw FleetError(.plan, "the certificates to trust cannot be used: \(error.detail)")
        }
    }

    /// Every connection needs a file descriptor. Only root may raise the hard limit.
    private static func raiseFileLimit(toHold files: Int) throws(FleetError) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        guard limit.rlim_cur < files else { return }
        limit.rlim_cur = rlim_t(files)
        limit.rlim_max = max(limit.rlim_max, limit.rlim_cur)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw FleetError(
                .plan,
                "\(files) open files are needed and not allowed (\(String(cString: strerror(errno)))): "
                    + "raise the hard limit with ulimit -Hn, or use fewer vehicles")
        }
    }

    private static func systemTime() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
