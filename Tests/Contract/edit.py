"""A request that schemathesis made, and those of its parts that may be changed."""

from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import negated_parameters

PATH, QUERY, HEADER, BODY = (
    ParameterLocation.PATH, ParameterLocation.QUERY, ParameterLocation.HEADER, ParameterLocation.BODY,
)


class Edit:
    """The parts of a request that are meant to be good."""

    def __init__(self, case):
        self.case = case
        self.meta = case._meta
        self.negated = set(negated_parameters(self.meta))
        self.linked = case._override

    @property
    def phase(self):
        return self.meta.phase.name if self.meta else None

    def is_good(self, location):
        return self.meta is None or not self.meta.is_negative_at(location)

    @property
    def is_wholly_good(self):
        return self.meta is None or all(info.mode.is_positive for info in self.meta.components.values())

    def is_tested(self, name):
        """Whether this request was made to try one value of a parameter."""
        return self.meta is not None and getattr(self.meta.phase.data, "parameter", None) == name

    def path(self, name, value):
        if self.is_good(PATH) and name not in self.linked.path_parameters and name in self.case.path_parameters:
            self.case.path_parameters = {**self.case.path_parameters, name: value}

    def query(self, **values):
        """Sets parameters; None takes one away."""
        if self.is_good(QUERY):
            merged = {**self.case.query, **values}
            self.case.query = {name: value for name, value in merged.items() if value is not None}

    def header(self, name, value):
        if (name, HEADER) not in self.negated and not self.is_tested(name):
            self.case.headers[name] = value

    @property
    def body(self):
        """The body, if it is a good object."""
        good = self.is_good(BODY) and isinstance(self.case.body, dict)
        return self.case.body if good else None

    def fields(self, **values):
        """Sets members; None takes one away."""
        if self.body is not None:
            merged = {**self.body, **values}
            self.case.body = {name: value for name, value in merged.items() if value is not None}
