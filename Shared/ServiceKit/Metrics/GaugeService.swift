public import Logging
public import ServiceLifecycle

/// Shows what a database knows as gauges, and looks again and again.
///
/// A look that fails is a warning: the gauges stay as they were, and requests go on.
public protocol GaugeService: Service {
    /// What is counted, for the warning: "open breaks".
    static var subject: String { get }
    /// The pause between two looks.
    static var interval: Duration { get }
    /// Where a look that fails is told of.
    var logger: Logger { get }

    /// Looks once, and sets the gauges.
    func refresh() async throws
}

extension GaugeService {
    /// Half a minute: dashboards need no more.
    public static var interval: Duration { .seconds(30) }

    /// Runs until told to stop.
    public func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await self.refresh()
                } catch {
                    // A look that the end of the service breaks off is nothing to tell of.
                    if Task.isCancelled { return }
                    self.logger.warning(
                        "what gauges show is not known",
                        metadata: ["subject": "\(Self.subject)", "error": "\(type(of: error))"]
                    )
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}
