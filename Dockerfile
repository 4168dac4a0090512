# All images of the suite but the gateway's. SERVICE chooses the executable that an image gets: auth, customer, account,
# transaction, subscription, notification, analytics, console, sandbox or transfactl. The stage "build" makes all of
# them once. EXECUTABLES=built takes them from packaged/ of the context instead: scripts/images does that for tests.
ARG EXECUTABLES=build

FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libcurl4-openssl-dev libhiredis-dev libhpdf-dev libpq-dev libqrencode-dev librabbitmq-dev libssl-dev \
        pkg-config python3-venv zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /suite
ENV TRANSFA_WITHOUT_TESTS=1
# The versions of the list, and no others.
COPY deploy/docker/resolve.sh /usr/local/bin/resolve
COPY deploy/docker/swift-versions.txt ./
RUN resolve swift-versions.txt >Package.resolved
COPY deploy/docker/reference.sh /usr/local/bin/reference
COPY deploy/docker/reference-versions.txt ./
RUN reference reference-versions.txt /reference
COPY Package.swift ./
COPY Shared Shared
COPY Services Services
COPY deploy/docker/package.sh /usr/local/bin/package
# What was built stays with the builder, so that after a change only what depends on it is compiled again.
RUN --mount=type=cache,id=transfa-build,target=/suite/.build,sharing=locked \
    options="--configuration release --static-swift-stdlib -debug-info-format none --force-resolved-versions" \
    && swift build $options \
    && package "$(swift build $options --show-bin-path)" /packaged \
    && cp -r /reference /packaged/console/app/reference

# The system: of Debian slim only the libraries that the executables need, and what is read at run time.
FROM debian:bookworm-slim AS system
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        bash ca-certificates fonts-dejavu-core libcurl4 libhiredis0.14 libhpdf-2.3.0 libpq5 libqrencode4 librabbitmq4 \
        libssl3 libstdc++6 zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY deploy/docker/system.sh /usr/local/bin/make-system
RUN make-system /system
COPY deploy/docker/healthcheck.sh /system/usr/local/bin/healthcheck

FROM scratch AS built
ARG SERVICE
COPY packaged/runtime/ /packaged/runtime/
COPY packaged/${SERVICE}/ /packaged/${SERVICE}/

FROM ${EXECUTABLES} AS executables

FROM scratch
ARG SERVICE
COPY --from=system /system/ /
COPY --from=executables /packaged/runtime/ /
COPY --from=executables /packaged/${SERVICE}/ /
USER 10001:10001
ENV PORT=8080 INTERNAL_PORT=9080 REFERENCE_FOLDER=/app/reference
EXPOSE 8080 9080
# Requests under way are finished, see SHUTDOWN_GRACE_SECONDS.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 CMD ["/usr/local/bin/healthcheck"]
ENTRYPOINT ["/app/run"]
LABEL org.opencontainers.image.title="transfa/${SERVICE}" \
    org.opencontainers.image.description="${SERVICE} of the Transfa backend" \
    org.opencontainers.image.vendor="Transfa" \
    org.opencontainers.image.base.name="docker.io/library/debian:bookworm-slim"
