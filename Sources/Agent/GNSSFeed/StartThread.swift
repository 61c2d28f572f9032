internal import Glibc

/// Starts a detached thread that runs `body` and ends. The thread blocks all signals, because the program handles them
/// elsewhere.
func startThread(_ body: @escaping @Sendable () -> Void) throws(GNSSFeedError) {
    let context = unsafe Unmanaged.passRetained(ThreadBody(run: body))
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    // Name resolution needs the deepest stack here, about 100 KiB.
    unsafe pthread_attr_setstacksize(&attributes, 512 * 1024)
    var thread = pthread_t()
    let result = unsafe pthread_create(
        &thread, &attributes,
        { argument in
            guard let argument = unsafe argument else { return nil }
            // The starter retained the body for this thread alone.
            let body = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
            var signals = sigset_t()
            unsafe sigfillset(&signals)
            unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
            body.run()
            return nil
        }, context.toOpaque())
    guard result == 0 else {
        unsafe context.release()
        throw GNSSFeedError(.resources, "cannot start a thread: \(reason(result))")
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}
