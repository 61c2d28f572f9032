/// Takes the place of the C library's setpriority(2) in every program that has this room in it.
///
/// The runtime's worker threads (libdispatch) ask for a nice value when they begin, each for that of its queue. A process without
/// privilege may not have one below its own, and libdispatch writes a line about each refusal into the system's log: two for
/// one `saker status`. These programs have no use for nice values of single threads: whoever starts a program gives it the
/// one that all of its threads have. So no thread asks the kernel. Programs that a program starts are not concerned.
@_cdecl("setpriority")
package func keepThreadPriority(_ which: Int32, _ who: UInt32, _ nice: Int32) -> Int32 { 0 }
