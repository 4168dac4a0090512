import EventLoops

/// Requests to other servers, over libcurl on a thread of its own.
///
/// A request is sent once. What was certainly not sent is told from what may have been; the latter is the caller's to ask
/// about before it is sent again.
public final class HTTPClient: Sendable {
    /// What holds for all calls of a client.
    public struct Configuration: Sendable {
        /// How long a connection may take until it stands, TLS included.
        public var connectTimeout = Duration.seconds(3)
        /// How many calls to one host are under way at once; the others wait, and their time runs.
        ///
        /// Over HTTP/1.1 each has a connection, of which some peers allow few.
        public var callsAtOnce = 16
        /// When a connection that nobody uses is ended.
        public var idleTime = Duration.seconds(30)
        /// A file of certificates to trust in place of the system's, in PEM.
        public var trustedCertificates: String?
        /// How old what was read of trusted certificates may be.
        public var trustedCertificatesAge = Duration.seconds(60)
        /// Whether HTTP/2 is spoken where the peer can do it, many calls over one connection.
        public var speaksHTTP2 = false
        /// Told of each call when it has ended: its host, its status or the reason why there is none, and how long it took.
        public var observe: (@Sendable (_ host: String, _ result: String, _ duration: Duration) -> Void)?

        /// What suits calls to other services.
        public init() {}
    }

    private let driver: CurlDriver
    private let observe: (@Sendable (String, String, Duration) -> Void)?

    private static let pause = Duration.milliseconds(100)

    /// Starts a thread; `shutdown()` ends it, and so does letting the client go.
    public init(_ configuration: Configuration = Configuration()) {
        self.driver = CurlDriver(loop: EventLoopThread(name: "http"), configuration: configuration)
        self.observe = configuration.observe
    }

    deinit { self.driver.end() }

    /// Sends a request and takes its answer.
    ///
    /// While there is no connection it tries again for as long as `patience` and `limit` allow: a peer that is replaced is
    /// away for a moment, and what found no connection was not sent. What had a connection is never sent twice.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - limit: For everything, the last byte of the answer included.
    ///   - patience: For what is to be a connection; zero tries once.
    /// - Returns: The answer, whatever its status.
    /// - Throws: `HTTPFailure`.
    public func send(
        _ call: HTTPCall,
        within limit: Duration,
        patience: Duration = .seconds(3)
    ) async throws(HTTPFailure) -> HTTPAnswer {
        let begin = ContinuousClock.now
        let lastAttempt = begin + min(limit, patience) - Self.pause
        while true {
            do throws(HTTPFailure) {
                let answer = try await self.attempt(call, until: begin + limit)
                self.observe?(call.host, String(answer.status), .now - begin)
                return answer
            } catch {
                guard error.reason == .unreachable, ContinuousClock.now < lastAttempt,
                    (try? await Task.sleep(for: Self.pause)) != nil
                else {
                    self.observe?(call.host, error.reason.rawValue, .now - begin)
                    throw error
                }
            }
        }
    }

    private func attempt(
        _ call: HTTPCall,
        until deadline: ContinuousClock.Instant
    ) async throws(HTTPFailure) -> HTTPAnswer {
        let (transfer, driver) = (Transfer(call, deadline: deadline), self.driver)
        let outcome = await withTaskCancellationHandler {
            await withHandover { handover in
                driver.loop.submit { driver.assumeIsolated { $0.begin(transfer, handover) } }
            }
        } onCancel: {
            driver.loop.submit { driver.assumeIsolated { $0.cancel(transfer) } }
        }
        return try outcome.get()
    }

    /// Ends what is under way, closes the connections, and returns when they are closed.
    ///
    /// A call afterwards fails as cancelled and not sent.
    public func shutdown() async { await self.driver.shutdown() }
}
