/// Runs an executable while `body` runs, and ends it afterwards: SIGTERM first, then SIGKILL.
///
/// `product` is a path, or the name of a product of the package such as "auth".
public func withProcess<Result>(
    _ product: String,
    _ arguments: [String] = [],
    environment: [String: String] = [:],
    _ body: (ChildProcess) async throws -> Result
) async throws -> Result {
    let path = product.contains("/") ? product : try Repository.product(product)
    let child = try ChildProcess(path, arguments, environment: environment)
    do {
        let result = try await body(child)
        await child.terminate()
        return result
    } catch {
        await child.terminate()
        throw TestFailure("\(error)\n--- the last lines of \(product):\n\(child.log.suffix(4000))")
    }
}
