"""What a client is given besides its code: who it speaks for, and a phone that approves what it sends."""

import httpx


class Phone(httpx.Auth):
    """Adds the session token, and approves orders byte by byte as they leave."""

    requires_request_body = True

    def __init__(self, people, name, approves=True):
        self.people, self.name, self.approves = people, name, approves
        self.token = people.token(name)

    def auth_flow(self, request):
        request.headers["Authorization"] = f"Bearer {self.token}"
        if self.approves and "Idempotency-Key" in request.headers:
            path = request.url.path
            request.headers["Transfa-Approval"] = self.people.approval(self.name, request.method, path, request.content)
        yield request
