import HTTPTypes

extension HTTPField.Name {
    static let rateLimit = HTTPField.Name("RateLimit").unsafelyNamed
    static let rateLimitPolicy = HTTPField.Name("RateLimit-Policy").unsafelyNamed
}

extension RateLimiter.Refusal {
    /// 429, and when to come again.
    var apiError: APIError {
        // Whoever is refused comes again at the same moment as everybody else who is: a second more does not hurt.
        let seconds = Int((self.wait + 999_999_999) / 1_000_000_000)
        let (policy, limit) = (self.standing.policy.rawValue, self.standing.limit)
        var error = APIError.tooManyRequests(
            detail: """
                The limit \(policy) is \(limit.requests) requests in \(limit.seconds) seconds. Wait as long as Retry-After \
                says, then send it again.
                """,
            retryAfter: max(1, seconds)
        )
        RateLimiter.describe([self.standing], in: &error.headers)
        return error
    }
}

extension RateLimiter {
    /// Adds `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11).
    ///
    /// With an answer only of what is the user's own: how much others behind the same address sent is nobody's business. A
    /// refusal says what it follows from.
    static func describe(_ standings: [Standing], in headers: inout HTTPFields) {
        for standing in standings {
            let name = standing.policy.rawValue
            let seconds = (standing.emptyIn + 999_999_999) / 1_000_000_000
            let limit = standing.limit
            Self.append("\"\(name)\";q=\(limit.requests);w=\(limit.seconds)", to: .rateLimitPolicy, &headers)
            Self.append("\"\(name)\";r=\(standing.remaining);t=\(seconds)", to: .rateLimit, &headers)
        }
    }

    private static func append(_ item: String, to name: HTTPField.Name, _ headers: inout HTTPFields) {
        headers[name] = headers[name].map { "\($0), \(item)" } ?? item
    }
}

extension AppRequestContext {
    /// Counts a request; nothing is counted on the internal port.
    func count(_ keys: [RateKey]) async throws(APIError) -> [RateLimiter.Standing] {
        guard let limiter = self.limiter else { return [] }
        do {
            return try await limiter.count(keys)
        } catch {
            throw error.apiError
        }
    }

    /// Refuses a request for what came before it, and does not count it.
    func refuseIfFull(_ key: RateKey) throws(APIError) {
        guard let limiter = self.limiter else { return }
        do throws(RateLimiter.Refusal) {
            try limiter.refuseIfFull(key)
        } catch {
            throw error.apiError
        }
    }
}
