"""The descriptions of the API: they keep the rules, the merged one is up to date, and each rule notices a breach.

Run: scripts/openapi test
"""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/lib"))
import openapi  # noqa: E402


def sample(title="Transfa sample", path="/things", operation="listThings", **changes):
    """A small document that keeps every rule; `changes` go into its one operation."""
    described = {
        "operationId": operation,
        "summary": "Things",
        "responses": {
            "200": {
                "description": "All of them.",
                "content": {"application/json": {
                    "schema": {"$ref": "#/components/schemas/Things"},
                    "example": {"data": [{"id": "019aa36c-5d5c-7cc5-a5a9-5f3a2f1f0b11", "name": "ada"}]},
                }},
            },
            "401": {"$ref": "#/components/responses/No"},
            "429": {"$ref": "#/components/responses/No"},
            "500": {"$ref": "#/components/responses/No"},
            "503": {"$ref": "#/components/responses/No"},
        },
    } | changes
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1.0.0"},
        "security": [{"session": []}],
        "paths": {path: {"get": described}},
        "components": {
            "securitySchemes": {"session": {"type": "http", "scheme": "bearer"}},
            "responses": {"No": {"description": "No."}},
            "schemas": {
                "Things": {
                    "type": "object",
                    "required": ["data"],
                    "properties": {"data": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}}},
                },
                "Thing": {
                    "type": "object",
                    "required": ["id"],
                    "properties": {
                        "id": {"type": "string", "format": "uuid"},
                        "name": {"type": "string", "pattern": "^[a-z]+$"},
                        "since": {"type": "string", "format": "date-time"},
                    },
                },
            },
        },
    }


def answer_of(document):
    return document["paths"]["/things"]["get"]["responses"]["200"]["content"]["application/json"]


class Descriptions(unittest.TestCase):
    def test_every_document_keeps_the_rules(self):
        self.assertEqual(openapi.everything()[1], [])

    def test_the_merged_document_is_up_to_date(self):
        merged, problems = openapi.everything()
        self.assertEqual(problems, [])
        self.assertTrue(openapi.is_current(merged), "deploy/gateway/openapi.yaml: run scripts/openapi")

    def test_the_merged_document_has_all_public_operations_and_no_others(self):
        merged, _ = openapi.everything()
        public = {
            (path, method)
            for document in openapi.documents().values()
            for path, method, _ in openapi.operations(document)
            if not path.startswith(openapi.INTERNAL)
        }
        self.assertGreater(len(public), 30)
        self.assertEqual({(path, method) for path, method, _ in openapi.operations(merged)}, public)
        self.assertNotIn("/internal/", openapi.text(merged))
        self.assertNotIn("internal", merged["components"]["securitySchemes"])


class Published(unittest.TestCase):
    """The file as others get it and read it: their readers of YAML, and openapi-spec-validator as it comes."""

    def problems(self, old="", new=""):
        text = openapi.MERGED.read_text()
        self.assertIn(old, text)
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "openapi.yaml"
            copy.write_text(text.replace(old, new, 1))
            return list(openapi.published_problems(copy))

    def assert_noticed(self, old, new, words):
        problems = self.problems(old, new)
        self.assertTrue(any(words in problem for problem in problems), f"{words!r} is not in {problems}")

    def test_it_is_good(self):
        self.assertEqual(self.problems(), [])

    def test_a_text_that_some_reader_takes_for_something_else_is_noticed(self):
        self.assert_noticed("account_number: '0123456789'", "account_number: 0123456789", "YAML 1.2")
        self.assert_noticed("'2026-11-01'", "2026-11-01", "YAML 1.1")

    def test_the_documents_that_people_write_are_read_alike_too(self):
        self.assertEqual(list(openapi.misread_sources()), [])
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path in openapi.sources():
                copy = root / path.relative_to(openapi.ROOT)
                copy.parent.mkdir(parents=True)
                copy.write_text(path.read_text())
            auth = root / "Services/Auth/openapi.yaml"
            examples = {"phone: '08031234567'": "phone: 08031234567", "pin: '4821'": "pin: 0o17"}
            for quoted, plain in examples.items():
                text = auth.read_text()
                self.assertIn(quoted, text)
                auth.write_text(text.replace(quoted, plain, 1))
            problems = list(openapi.misread_sources(root))
            self.assertEqual(len(problems), len(examples), problems)
            self.assertTrue(all("Auth" in problem and "YAML 1.2" in problem for problem in problems), problems)

    def test_what_the_validator_objects_to_is_noticed(self):
        self.assert_noticed("  description: 'Everything", "  descriptions: 'Everything", "not OpenAPI 3.1")
        self.assert_noticed("      operationId: payUser", "      operationId: getWallet", "not OpenAPI 3.1")
        self.assert_noticed("^[A-Za-z]+[-_][A-Za-z]+$", r"^\p{L}+[-_]\p{L}+$", "not OpenAPI 3.1")
        self.assert_noticed("/money-drops/{id}/qr:", "/money-drops/{drop}/qr:", "not OpenAPI 3.1")


class Rules(unittest.TestCase):
    def assert_noticed(self, document, words):
        problems = openapi.check(document)
        self.assertTrue(any(words in problem for problem in problems), f"{words!r} is not in {problems}")

    def test_a_good_document_has_no_problems(self):
        self.assertEqual(openapi.check(sample()), [])

    def test_a_document_that_is_none_is_noticed(self):
        self.assert_noticed(sample(responses={"200": {"nothing": 1}}), "not OpenAPI 3.1")

    def test_a_missing_operation_id_is_noticed(self):
        document = sample()
        del document["paths"]["/things"]["get"]["operationId"]
        self.assert_noticed(document, "no operationId")

    def test_a_default_response_is_noticed(self):
        document = sample()
        document["paths"]["/things"]["get"]["responses"]["default"] = {"description": "Whatever."}
        self.assert_noticed(document, "default response")

    def test_an_answer_that_is_not_described_is_noticed(self):
        self.assert_noticed(sample(responses={"401": {"$ref": "#/components/responses/No"}}), "no good answer")
        for status in ("401", "429", "500", "503"):
            document = sample()
            del document["paths"]["/things"]["get"]["responses"][status]
            self.assert_noticed(document, f"describe {status}")

    def test_the_answers_to_what_an_operation_takes_are_to_be_described(self):
        body = {"content": {"application/json": {"schema": {"type": "string"}}}}
        for status in ("400", "413", "415"):
            self.assert_noticed(sample(requestBody=body), f"describe {status}")

        def parameter(place, name):
            return {"name": name, "in": place, "required": True, "schema": {"type": "string"}}

        self.assert_noticed(sample(parameters=[parameter("query", "limit")]), "describe 400")
        for status in ("400", "422"):
            self.assert_noticed(sample(parameters=[parameter("header", "Idempotency-Key")]), f"describe {status}")
        document = sample(path="/things/{id}")
        document["paths"]["/things/{id}"]["parameters"] = [parameter("path", "id")]
        self.assert_noticed(document, "describe 404")

    def test_empty_schemas_are_noticed_wherever_they_are(self):
        for schema in ({}, {"description": "?"}, {"type": "object"}, {"type": "array"}):
            document = sample()
            answer_of(document)["schema"] = schema
            self.assert_noticed(document, "any")
            document = sample()
            document["components"]["schemas"]["Thing"]["properties"]["name"] = schema
            self.assert_noticed(document, "any")
        document = sample()
        del answer_of(document)["schema"]
        self.assert_noticed(document, "no schema")

    def test_a_body_that_takes_any_member_is_noticed_however_deep_it_is(self):
        def body(path="/things", **closed):
            person = {"type": "object", "properties": {"name": {"type": "string"}}}
            people = {"type": "array", "items": person | closed.get("inner", {})}
            schema = {"type": "object", "properties": {"people": people}} | closed.get("outer", {})
            wanted = {"content": {"application/json": {"schema": schema}}}
            return openapi.has_closed_bodies(sample(path=path, requestBody=wanted))

        closed = {"additionalProperties": False}
        self.assertEqual(list(body(outer=closed, inner=closed)), [])
        self.assertIn("open: /people/items", " ".join(body(outer=closed)))
        self.assertIn("open: /", " ".join(body(inner=closed)))
        self.assertEqual(list(body(path="/webhooks/others")), [])

    def test_examples_that_break_their_schema_are_noticed(self):
        good = {"id": "019aa36c-5d5c-7cc5-a5a9-5f3a2f1f0b11"}
        broken = ({}, {"id": 5}, {"id": "x"}, good | {"name": "ADA"}, good | {"since": "yesterday"})
        for thing in broken:
            document = sample()
            answer_of(document)["example"] = {"data": [thing]}
            self.assert_noticed(document, "an example breaks its schema")
            document = sample()
            content = answer_of(document)
            del content["example"]
            content["examples"] = {"one": {"value": {"data": [thing]}}}
            self.assert_noticed(document, "an example breaks its schema")
        parameter = {"name": "X-Limit", "in": "header", "schema": {"type": "integer"}, "example": "many"}
        self.assert_noticed(sample(parameters=[parameter]), "an example breaks its schema")
        document = sample()
        document["components"]["schemas"]["Thing"]["properties"]["name"]["examples"] = ["ada", "ADA"]
        self.assert_noticed(document, "an example breaks its schema")

    def test_a_pattern_that_not_every_tool_knows_is_noticed(self):
        for pattern in (
            r"^\p{Ll}+$", r"^\d+$", r"^(?=a)a$", r"^(?<name>a)$", r"^(?i)a$", "^a++$", r"\Aa\Z", r"^(a)\1$",
            r"^\u{61}$", "^(a$",
        ):
            document = sample()
            document["components"]["schemas"]["Thing"]["properties"]["name"]["pattern"] = pattern
            self.assert_noticed(document, "has a pattern")
        for pattern in (r"^(?:a|\x41|\u00e9|[\[\]*+]|\s)+$", r"^[^\x00-\x1f]{1,5}?$"):
            self.assertIsNone(openapi.openapi_tools.unportable(pattern))

    def test_names_that_makers_of_clients_stumble_over_are_noticed(self):
        document = sample()
        document["components"]["schemas"]["Thing"]["properties"]["since"] = {"enum": ["now"]}
        document["components"]["schemas"]["ThingSince"] = {"type": "object", "properties": {}}
        self.assert_noticed(document, "ThingSince")
        document = sample()
        content = answer_of(document)
        content["examples"] = {"description": {"value": content.pop("example")}}
        self.assert_noticed(document, "the example description")

    def test_a_name_that_stands_twice_is_noticed(self):
        with self.assertRaises(openapi.yaml.constructor.ConstructorError):
            openapi.yaml.load("a: 1\nb: 2\na: 3\n", openapi.Loader)

    def test_words_and_dates_stay_texts(self):
        loaded = openapi.yaml.load("[no, on, 2026-11-21, true]", openapi.Loader)
        self.assertEqual(loaded, ["no", "on", "2026-11-21", True])


class Merging(unittest.TestCase):
    def merge(self, *documents):
        return openapi.merge({f"{index}.yaml": document for index, document in enumerate(documents)})

    def other(self, **changes):
        return sample(title="Transfa other", path="/others", operation="listOthers", **changes)

    def test_equal_schemas_are_one_and_answers_keep_apart(self):
        other = self.other()
        other["components"]["responses"]["No"] = {"description": "Never."}
        merged = self.merge(sample(), other)
        self.assertEqual(openapi.check(merged), [])
        self.assertEqual(set(merged["components"]["schemas"]), {"Thing", "Things"})
        descriptions = {name: value["description"] for name, value in merged["components"]["responses"].items()}
        self.assertEqual(descriptions, {"sample.No": "No.", "other.No": "Never."})

    def test_conflicts_are_errors(self):
        twice = sample(title="Transfa other", operation="listOthers")
        same_id = sample(title="Transfa other", path="/others")
        schema, scheme = self.other(), self.other()
        schema["components"]["schemas"]["Thing"]["required"] = []
        scheme["components"]["securitySchemes"]["session"] = {"type": "http", "scheme": "basic"}
        for document in (twice, same_id, schema, scheme):
            with self.assertRaises(openapi.Conflict):
                self.merge(sample(), document)

    def test_internal_paths_and_what_only_they_use_are_left_out(self):
        inside = self.other()
        inside["paths"]["/internal/others"] = inside["paths"].pop("/others")
        inside["components"]["schemas"]["Thing"]["required"] = []
        merged = self.merge(sample(), inside)
        self.assertEqual(list(merged["paths"]), ["/things"])
        self.assertEqual(merged["tags"], [{"name": "sample", "description": ""}])

    def test_an_old_merged_document_is_noticed(self):
        merged = self.merge(sample())
        self.assertFalse(openapi.is_current(merged))


def main():
    result = unittest.TextTestRunner(verbosity=1).run(unittest.defaultTestLoader.loadTestsFromName("__main__"))
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
