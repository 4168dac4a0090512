import Contracts
import Primitives
import ServiceKit

/// What the services hold about people.
protocol ExportSources: Sendable {
    /// A page of a service.
    ///
    /// - Throws: `ExportUnavailable`.
    func page(of person: UserID, at place: PersonalExport.Place) async throws -> ExportPage
}

/// A service does not answer, or not as it should.
struct ExportUnavailable: Error {
    let service: ServiceName
}
