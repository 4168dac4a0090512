# The verbs people use; each is a script that continuous integration and people run alike.

.PHONY: build test run stop format lint bench

build:
	swift build --enable-code-coverage

test:
	scripts/test

run:
	scripts/run

stop:
	scripts/run --stop

format:
	scripts/format

lint:
	scripts/lint

bench:
	scripts/bench
