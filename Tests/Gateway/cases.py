"""What all cases stand on: one set of services, one gateway with the usual settings, and others for single cases."""

import pathlib
import shutil
import tempfile
import unittest

from client import Connection, ask, bearer, call
from proxy import Gateway, configured
from services import Service


UNLIMITED = {f"GATEWAY_{what}": "1000000" for what in ("REQUEST_RATE", "REFUSAL_RATE", "CONNECTION_RATE")}


class World:
    """Started once for all cases."""

    folder = None
    services = {}
    gateway = None

    @classmethod
    def start(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="transfa-gateway-"))
        cls.services = {name: Service(name).start() for name in configured.SERVICES}
        # All cases are one client: its limits are for cases of their own.
        cls.gateway = Gateway(cls.folder / "usual", cls.services, **UNLIMITED).__enter__()

    @classmethod
    def stop(cls):
        if cls.gateway:
            cls.gateway.__exit__()
        for service in cls.services.values():
            service.stop()
        if cls.folder:
            shutil.rmtree(cls.folder, ignore_errors=True)


class Case(unittest.TestCase):
    def setUp(self):
        self.services = World.services
        self.gateway = World.gateway
        for service in self.services.values():
            service.reset()

    def other_gateway(self, **settings):
        """A gateway of this case's own, with these settings; ends with the case."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=World.folder))
        return self.enterContext(Gateway(folder, self.services, **{**UNLIMITED, **settings}))

    def assertRefused(self, answer, status, code, **headers):
        """A JSON:API document with the id of the request, and the headers that every answer has."""
        self.assertEqual((answer.status, answer.headers.get("content-type")), (status, "application/vnd.api+json"))
        error = answer.error
        self.assertEqual((error["status"], error["code"], error["id"]),
                         (str(status), code, answer.headers["x-request-id"]))
        self.assertTrue(error["title"] and error["detail"])
        for name in ("strict-transport-security", "x-content-type-options", "content-security-policy"):
            self.assertIn(name, answer.headers)
        for name, value in headers.items():
            self.assertEqual(answer.headers.get(name.replace("_", "-")), value)

    def assertAnsweredBy(self, answer, service):
        self.assertEqual((answer.status, answer.json.get("service")), (200, service), answer.body)

    def assertNothingArrived(self):
        self.assertEqual({name: service.seen for name, service in self.services.items() if service.seen}, {})


__all__ = ["Case", "Connection", "World", "ask", "bearer", "call", "configured"]
