import Primitives
import ServiceKit

extension RouteQueries {
    /// The query parameters of the routes of this service.
    static let transaction = RouteQueries(
        [
            "GET /transactions": ["type", "state", "from", "to"] + Paging.parameters,
            "GET /statements": ["format"] + LagosPeriod.parameters + Paging.parameters,
            "GET /money-drops": ["filter"] + Paging.parameters,
            "GET /money-drops/{id}/qr": PictureForm.parameters,
            "GET /payment-requests": ["direction", "reference"] + Paging.parameters,
            "GET /payment-requests/{id}/qr": PictureForm.parameters,
            "GET /internal/reconciliations/breaks": ["user_id"],
            "GET /internal/disputes": ["state", "limit"],
            "GET /internal/transfers": ["state", "limit"],
            "GET /internal/recoveries/{id}/forgotten": ["limit"],
            "GET /internal/wallets/blocked": ["limit"],
        ]
    )
}
