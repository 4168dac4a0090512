import Foundation

/// Waits until `check` gives a value, asking again every few milliseconds.
///
/// For what a test can only observe from outside. `what` ends the sentence "still waiting for". A check that throws
/// counts as "not yet"; the last error is reported when the time is up, which is `limit` times TRANSFA_TEST_SLOWNESS
/// (for sanitizer runs).
@discardableResult
public func eventually<Value>(
    _ what: String,
    within limit: Duration = .seconds(15),
    every pause: Duration = .milliseconds(20),
    _ check: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let deadline = clock.now + limit * slowness
    var last = "it never became true"
    repeat {
        do {
            if let value = try await check() {
                return value
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            last = "\(error)"
        }
        try await Task.sleep(for: pause)
    } while clock.now < deadline
    throw TestFailure("after \(limit * slowness) still waiting for \(what): \(last)")
}

/// Waits until `check` is true.
public func eventually(
    _ what: String,
    within limit: Duration = .seconds(15),
    every pause: Duration = .milliseconds(20),
    _ check: () async throws -> Bool
) async throws {
    try await eventually(what, within: limit, every: pause) { () async throws -> Void? in
        try await check() ? () : nil
    }
}

/// How many times slower than usual this run is.
private let slowness = Int(ProcessInfo.processInfo.environment["TRANSFA_TEST_SLOWNESS"] ?? "") ?? 1
