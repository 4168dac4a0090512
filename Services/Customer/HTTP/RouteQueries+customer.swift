import ServiceKit

extension RouteQueries {
    /// The query parameters of the routes of this service.
    static let customer = RouteQueries(
        [
            "GET /users": ["query"],
            "GET /users/{username}": Paging.parameters,
            "GET /users/me/qr": PictureForm.parameters,
            "GET /users/me/export/file": ["format"],
            "GET /internal/users": ["username"],
            "GET /internal/beneficiaries/default": ["user_id"],
            "GET /internal/beneficiaries/reviews": Paging.parameters,
        ]
    )
}
