# shellcheck shell=bash
# A private Redis under <dir>/redis that keeps nothing on disk. Needs processes.sh.

start_redis() {
    local dir=$1 home=$1/redis port
    running_pid "$dir/pids/redis" >/dev/null && return
    command -v redis-server >/dev/null || fail "Redis is not installed: run scripts/bootstrap as root"
    must_be_free Redis "$dir/ports/redis"
    port=$(free_port "$dir/ports/redis")
    mkdir -p "$home"
    cat >"$home/redis.conf" <<SETTINGS
bind 127.0.0.1
port $port
dir "$home"
daemonize no
databases 512
save ""
appendonly no
maxmemory 512mb
maxmemory-policy volatile-lru
SETTINGS
    start_process "$dir/pids/redis" "$dir/logs/redis.log" redis-server "$home/redis.conf"
}

redis_ready() {
    [[ $(redis-cli -h 127.0.0.1 -p "$(<"$1/ports/redis")" ping 2>/dev/null) == PONG ]]
}

stop_redis() {
    stop_process "$1/pids/redis" TERM 10
}

redis_environment() {
    printf "TRANSFA_TEST_REDIS_URL='redis://127.0.0.1:%s/0'\n" "$(<"$1/ports/redis")"
}
