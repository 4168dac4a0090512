"""What a query of Prometheus asks for: metrics, with the labels that it matches, and the labels that it groups by."""

import dataclasses
import re

TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<range>\[[^\]]*\])|(?P<name>[A-Za-z_:][\w:]*)"""
    r"""|(?P<number>[0-9][\w.]*)|(?P<sign>=~|!~|!=|==|>=|<=|.)""",
    re.X,
)
# Words that are followed by a list of labels.
LISTS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
WORDS = {"and", "or", "unless", "bool", "offset", "inf", "nan"}


@dataclasses.dataclass
class Query:
    """Metric names in order, label matchers of each, and labels that results are grouped by."""

    metrics: list
    matchers: list
    grouped: set


def plain(query):
    """A query of a dashboard with its variables filled in."""
    return query.replace("$__rate_interval", "5m").replace("$__interval", "1m").replace("$__range", "1h")


def tokens(query):
    position = 0
    while position < len(query):
        match = TOKEN.match(query, position)
        position = match.end()
        if match.lastgroup != "space":
            yield match.lastgroup, match.group()


def parse(query):
    stream = list(tokens(plain(query)))
    found = Query([], [], set())
    place = 0
    while place < len(stream):
        kind, text = stream[place]
        following = stream[place + 1][1] if place + 1 < len(stream) else ""
        place += 1
        if kind != "name" or text.lower() in WORDS:
            continue
        if text in LISTS:
            if following == "(":
                place += 1
                while stream[place][1] != ")":
                    if stream[place][0] == "name":
                        found.grouped.add(stream[place][1])
                    place += 1
            continue
        # Functions and aggregations; "sum by (x) (...)" has its list in between.
        if following == "(" or following in LISTS and text.islower() and "_" not in text:
            continue
        found.metrics.append(text)
        if following == "{":
            place += 1
            while stream[place][1] != "}":
                if stream[place][0] == "name":
                    label, operator, value = (part[1] for part in stream[place:place + 3])
                    found.matchers.append((text, label, operator, value[1:-1]))
                    place += 2
                place += 1
    return found


def values(operator, value):
    """The values that a matcher names one by one; none when it is a pattern."""
    if operator in ("=", "!="):
        return [value] if value else []
    words = value.split("|")
    return words if all(re.fullmatch(r"[\w.-]+", word) and not word.endswith(".") for word in words) else []
