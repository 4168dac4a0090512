import OutgoingHTTP
import ServiceLifecycle

/// Closes the connection to Apple when the jobs that use it have ended.
struct PushConnection: Service, CustomStringConvertible {
    let http: HTTPClient
    let description = "push"

    func run() async {
        try? await gracefulShutdown()
        await self.http.shutdown()
    }
}
