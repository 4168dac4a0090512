# shellcheck shell=bash
# What the figures were measured on. Prints JSON lines {"name", "value"}. Needs $run.
# shellcheck disable=SC2154

fact() {
    printf '{"name": "%s", "value": "%s"}\n' "$1" "$2"
}

machine_facts() {
    fact cores "$(nproc)"
    fact processor "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
    fact memory "$(awk '/^MemTotal/ { printf "%.1f GB", $2 / 1048576 }' /proc/meminfo)"
    fact kernel "$(uname -sr)"
    fact "load before the start" "$load_before"
    fact commit "$(git -C "$root" describe --always --dirty 2>/dev/null || printf unknown)"
}

durability_facts() {
    local name
    # shellcheck source=/dev/null
    source "$run/servers/servers.env"
    for name in server_version fsync synchronous_commit full_page_writes wal_sync_method shared_buffers; do
        fact "Postgres $name" "$(psql "$TRANSFA_TEST_POSTGRES_URL" -XAtqc "SHOW $name")"
    done
    fact "RabbitMQ queues" "$("$TRANSFA_TEST_RABBITMQCTL" -q list_queues type 2>/dev/null | sed 1d | sort | uniq -c \
        | awk '{ printf "%s%s %s", (NR > 1 ? ", " : ""), $1, $2 }')"
    fact "Redis appendonly" "$(redis-cli -u "$TRANSFA_TEST_REDIS_URL" config get appendonly | tail -n 1)"
}
