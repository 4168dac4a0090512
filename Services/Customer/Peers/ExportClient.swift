import Contracts
import Foundation
import OutgoingHTTP
import Primitives
import ServiceKit

/// Asks the services' internal ports, its own too, with a token that opens nothing else.
struct ExportClient: ExportSources {
    let addresses: [ServiceName: String]
    let token: String
    let http: HTTPClient

    private static let timeout = Duration.seconds(10)
    /// Many times what a page has.
    private static let longestPage = 8 * 1024 * 1024

    func page(of person: UserID, at place: PersonalExport.Place) async throws -> ExportPage {
        guard let address = self.addresses[place.service] else { throw ExportUnavailable(service: place.service) }
        let query = place.cursor.map { "?cursor=\($0)" } ?? ""
        let call = HTTPCall(
            .get,
            "\(address)/internal/users/\(person)/export\(query)",
            headers: [("Authorization", "Bearer \(self.token)")],
            longestAnswer: Self.longestPage
        )
        let answer: HTTPAnswer
        do throws(HTTPFailure) {
            answer = try await self.http.send(call, within: Self.timeout)
        } catch {
            if error.reason == .cancelled { throw CancellationError() }
            throw ExportUnavailable(service: place.service)
        }
        guard answer.status == 200, let page = try? JSONDecoder().decode(ExportPage.self, from: Data(answer.body))
        else {
            throw ExportUnavailable(service: place.service)
        }
        return page
    }
}
