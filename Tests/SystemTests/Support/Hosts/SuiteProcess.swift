import TestSupport

/// A service that was started: a process of this machine, or what runs in a container.
protocol SuiteProcess: Sendable {
    /// Its process id on this machine.
    var pid: Int32 { get }
    /// Whether it has not ended yet.
    var isRunning: Bool { get }
    /// Everything it has written so far.
    var log: String { get }

    /// Waits for the end.
    func exit() async -> ChildExit

    /// kill -9, and waits for the end.
    @discardableResult
    func kill() async -> ChildExit

    /// SIGTERM, and SIGKILL when it has not ended in time.
    @discardableResult
    func terminate(within limit: Duration) async -> ChildExit
}

extension SuiteProcess {
    /// SIGTERM, and SIGKILL after a long time.
    @discardableResult
    func terminate() async -> ChildExit { await self.terminate(within: .seconds(20)) }
}

extension ChildProcess: SuiteProcess {}
