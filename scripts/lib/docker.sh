# shellcheck shell=bash
# A Docker engine: the one that answers, or one of our own. And a client that can build with BuildKit. Needs console.sh
# and processes.sh, and compose.sh for engine_suffices; $root is this checkout.
# shellcheck disable=SC2154

# The status of a script for which no engine could be had.
# shellcheck disable=SC2034
no_engine=75
# Why not, in one sentence.
obstacle=""

engine_answers() {
    timeout 20 docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# is_hindered <sentence>: fails, and keeps why.
is_hindered() {
    obstacle=$*
    return 1
}

# What tells this checkout from others of the machine, whatever paths lead to it.
checkout_name() {
    stat --format '%d:%i' "$root" | sha256sum | head -c 8
}

# use_engine <folder>: the engine of DOCKER_HOST or of the machine when one answers, otherwise one of our own with its
# data in this folder. On failure $obstacle says why.
use_engine() {
    engine_answers && return
    [[ -z ${DOCKER_HOST:-} ]] || is_hindered "nothing answers at $DOCKER_HOST" || return
    ((EUID == 0)) || is_hindered "no Docker engine answers, and only root can start one" || return
    command -v dockerd >/dev/null \
        || is_hindered "no Docker engine answers, and dockerd is not installed (Debian's package is docker.io)" || return
    start_engine "$1"
}

# start_engine <folder>: one of our own, or the one that runs there. Packets between containers stay on one bridge, ports
# are published by a proxy of the engine, and there is no bridge that all engines would share: nothing of the machine's
# own network is changed.
start_engine() {
    local folder=$1 socket
    # The kernel's limit for the path of a socket is 107 bytes.
    socket=${TMPDIR:-/tmp}/transfa-docker-$(checkout_name).sock
    export DOCKER_HOST=unix://$socket
    ! engine_answers || return 0
    mkdir -p "$folder"
    # Of one that was killed; its number may be somebody else's by now.
    running_pid "$folder/dockerd.pid" >/dev/null || rm -f "$folder/engine.pid"
    : >"$folder/dockerd.log"
    start_process "$folder/dockerd.pid" "$folder/dockerd.log" dockerd \
        --data-root "$folder/data" --exec-root "$folder/run" --pidfile "$folder/engine.pid" --host "unix://$socket" \
        --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
        || is_hindered "dockerd: $(tail -n 1 "$folder/dockerd.log")" || return
    wait_until 60 engine_answers_or_ended "$folder" && engine_answers && return
    is_hindered "dockerd: $(grep -aE 'level=(error|fatal)|failed to start' "$folder/dockerd.log" | tail -n 1 \
        | cut -c 1-300)" || stop_engine "$folder"
    return 1
}

engine_answers_or_ended() {
    engine_answers || process_is_gone "$1/dockerd.pid"
}

stop_engine() {
    [[ -e $1/dockerd.pid ]] || return 0
    stop_process "$1/dockerd.pid" TERM 30
}

# Some engine that answers can do too little. On failure $obstacle says what is missing.
engine_suffices() {
    local gigabytes=$1 driver processors folder free
    read -r driver processors folder < <(docker info --format '{{.Driver}} {{.NCPU}} {{.DockerRootDir}}')
    [[ $driver != vfs ]] || is_hindered "the engine's storage driver is vfs, which copies every layer" || return
    ((processors > 1)) || is_hindered "the engine has one processor only, on which the suite is too slow" || return
    # An engine elsewhere has a folder that is not here; what runs shows that.
    if [[ -d $folder ]]; then
        free=$(df -Pk "$folder" | awk 'NR == 2 { print int($4 / 1048576) }')
        ((free >= gigabytes)) || is_hindered "$free GB are free at $folder, and images need $gigabytes GB" || return
    fi
    build_client >/dev/null || is_hindered "docker has no buildx, and there is no older docker that builds without it" \
        || return
    (($(compose_programs | wc -l) > 0)) || is_hindered "there is no Compose: neither docker's plugin nor docker-compose"
}

# runs_containers <name> <network> <folder>: a container runs, sees the files of this machine, and answers at a port of
# 127.0.0.1. It is a web server of this machine with its libraries, for there may be no image yet.
runs_containers() {
    local name=$1 network=$2 folder=$3 problem address
    mkdir -p "$folder"
    printf '%s\n' 'defaults' ' mode http' ' timeout client 5s' ' timeout connect 5s' ' timeout server 5s' \
        'frontend probe' ' bind :8080' ' http-request return status 200' >"$folder/haproxy.cfg"
    problem=$(start_probe "$@" 2>&1 >/dev/null) || {
        stop_probe "$name"
        is_hindered "no container can be run: $(tail -n 1 <<<"$problem" | cut -c 1-300)"
        return
    }
    address=$(docker port "$name" 8080/tcp | head -n 1)
    wait_until 15 curl -fsS --max-time 2 --output /dev/null "http://$address" 2>/dev/null \
        || is_hindered "a container runs, but its port does not answer at $address: is the engine another machine's?" || {
        stop_probe "$name"
        return 1
    }
    stop_probe "$name"
}

start_probe() {
    local name=$1 network=$2 folder=$3 haproxy
    haproxy=$(command -v haproxy || printf /usr/sbin/haproxy)
    stop_probe "$name"
    ldd "$haproxy" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' \
        | tar --dereference --absolute-names -c -f "$folder/root.tar" "$haproxy" --files-from - || return
    docker import "$folder/root.tar" "$name" || return
    docker network create --subnet "$network" "$name" || return
    docker run --detach --name "$name" --network "$name" --publish 127.0.0.1::8080 \
        --volume "$folder/haproxy.cfg:/haproxy.cfg:ro" "$name" "$haproxy" -db -f /haproxy.cfg
}

stop_probe() {
    {
        docker rm --force --volumes "$1"
        docker network rm "$1"
        docker rmi "$1"
    } >/dev/null 2>&1 || true
}

# free_networks <how many>: networks of 256 addresses to which no route of this machine leads, beginning with another
# one in every checkout.
free_networks() {
    local first number found=0
    first=$((16#$(checkout_name | head -c 4)))
    for ((number = 0; number < 250 && found < $1; number++)); do
        network_is_free $(((first + number) % 250)) || continue
        printf '172.30.%d.0/24\n' $(((first + number) % 250))
        found=$((found + 1))
    done
}

# The kernel writes addresses with the last byte first.
network_is_free() {
    local target mask network=$((0x1EAC | $1 << 16))
    while read -r _ target _ _ _ _ _ mask _; do
        # What both say of the network's address is the same: one lies in the other.
        mask=$((16#$mask & 0xFFFFFF))
        ((mask == 0 || (16#$target & mask) != (network & mask))) || return 1
    done < <(tail -n +2 /proc/net/route)
}

# download_failed <log>: whether what failed was a package, or the list of packages, that did not come. Only the end of
# the log tells: before it stands what was tried again.
download_failed() {
    grep -qE "Failed to fetch|Temporary failure|Could not (resolve|connect)|Unable to connect|Couldn't download|$(
        printf 'Connection (timed out|refused|failed)|Network is unreachable|Invalid Release file'
    )" <<<"$(tail -n 40 "$1" 2>/dev/null)"
}

# The client that builds: buildx where docker has it, otherwise an older docker that knows BuildKit itself.
build_client() {
    local client version
    if docker buildx version >/dev/null 2>&1; then
        printf 'docker buildx build --load'
        return
    fi
    for client in docker /usr/bin/docker; do
        version=$("$client" version --format '{{.Client.Version}}' 2>/dev/null || true)
        if [[ -n $version ]] && ((${version%%.*} < 23)); then
            printf 'env DOCKER_BUILDKIT=1 %s build' "$client"
            return
        fi
    done
    return 1
}

docker_build() {
    local words
    words=$(build_client) || fail "docker has no buildx, which builds images (Debian's docker.io can build without it)"
    # shellcheck disable=SC2086
    $words "$@"
}

image_exists() {
    docker image inspect "$1" >/dev/null 2>&1
}

# In whole megabytes, rounded up: a limit is not passed by rounding.
image_megabytes() {
    docker image inspect --format '{{.Size}}' "$1" | awk '{ printf "%d", ($1 + 999999) / 1000000 }'
}
