# shellcheck shell=bash
# A Docker engine: the one that answers, or one of our own. And a client that can build with BuildKit. Needs console.sh
# and processes.sh.

# The status of a script that found no engine and could start none.
# shellcheck disable=SC2034
no_engine=75

engine_answers() {
    timeout 20 docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# use_engine <folder>: the engine of DOCKER_HOST or of the machine when one answers, otherwise one of our own with its
# data in this folder. On failure it prints why.
use_engine() {
    local folder=$1
    command -v docker >/dev/null || {
        say "no Docker engine: docker is not installed (Debian's package is docker.io)"
        return 1
    }
    engine_answers && return
    [[ -z ${DOCKER_HOST:-} ]] || {
        say "no Docker engine: nothing answers at $DOCKER_HOST"
        return 1
    }
    start_engine "$folder"
}

start_engine() {
    local folder=$1 socket
    # The kernel's limit for the path of a socket is 107 bytes.
    socket=${TMPDIR:-/tmp}/transfa-docker-$(printf '%s' "$folder" | sha256sum | head -c 8).sock
    ((EUID == 0)) || {
        say "no Docker engine: none answers, and only root can start one"
        return 1
    }
    command -v dockerd >/dev/null || {
        say "no Docker engine: none answers, and dockerd is not installed (Debian's package is docker.io)"
        return 1
    }
    mkdir -p "$folder"
    : >"$folder/dockerd.log"
    # Packets between containers stay on one bridge, and ports are published by a proxy of the engine: nothing of the
    # machine's own network is changed.
    start_process "$folder/dockerd.pid" "$folder/dockerd.log" nice -n "${ENGINE_NICE:-0}" dockerd \
        --data-root "$folder/data" --exec-root "$folder/run" --pidfile "$folder/engine.pid" --host "unix://$socket" \
        --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
        || {
            say "no Docker engine: $(tail -n 1 "$folder/dockerd.log")"
            return 1
        }
    export DOCKER_HOST=unix://$socket
    wait_until 60 engine_answers_or_ended "$folder" && engine_answers && return
    say "no Docker engine: $(grep -aE 'level=(error|fatal)|failed to start' "$folder/dockerd.log" | tail -n 1 \
        | cut -c 1-300)"
    stop_engine "$folder"
    return 1
}

engine_answers_or_ended() {
    engine_answers || process_is_gone "$1/dockerd.pid"
}

stop_engine() {
    [[ -e $1/dockerd.pid ]] || return 0
    stop_process "$1/dockerd.pid" TERM 30
}

# The client that builds: buildx where docker has it, otherwise an older docker that knows BuildKit itself.
docker_build() {
    local client version
    if docker buildx version >/dev/null 2>&1; then
        docker buildx build --load "$@"
        return
    fi
    for client in docker /usr/bin/docker; do
        version=$("$client" version --format '{{.Client.Version}}' 2>/dev/null || true)
        if [[ -n $version ]] && ((${version%%.*} < 23)); then
            DOCKER_BUILDKIT=1 "$client" build "$@"
            return
        fi
    done
    say "error: docker has no buildx, which builds images (Debian's docker.io 20.10 can build without it)"
    return 1
}

image_exists() {
    docker image inspect "$1" >/dev/null 2>&1
}

# In whole megabytes, rounded up: a limit is not passed by rounding.
image_megabytes() {
    docker image inspect --format '{{.Size}}' "$1" | awk '{ printf "%d", ($1 + 999999) / 1000000 }'
}
