# shellcheck shell=bash
# Part f: how much memory a service takes while nothing happens, and how long it takes from exec to ready. Needs
# lib/suite.sh and processes.sh. Prints measurements as JSON lines.
# shellcheck disable=SC2154

# No curl: starting one takes longer than the answer.
answers_ready() {
    local port=$1 token=$2 line=""
    {
        exec 7<>"/dev/tcp/127.0.0.1/$port" || return 1
    } 2>/dev/null
    printf 'GET /health/ready HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer %s\r\nconnection: close\r\n\r\n' \
        "$token" >&7
    read -r -t 5 line <&7 || true
    exec 7>&-
    [[ $line == *" 200 "* ]]
}

# Prints milliseconds from exec to ready.
restart_service() {
    local service=$1 port token begin limit
    port=$(<"$run/ports/$service-internal")
    token=$(<"$run/secrets/internal-token")
    stop_process "$run/pids/$service" TERM 15
    begin=${EPOCHREALTIME/./}
    limit=$((begin + 30000000))
    # No tool in between, whose own start would be measured.
    # shellcheck disable=SC2016
    start_process "$run/pids/$service" "$run/logs/$service.log" env -i PATH="$PATH" HOME="${HOME:-/}" \
        bash -c 'set -a; source "$1"; set +a; exec "$2"' "$service" "$run/$service.env" "$binaries/$service" \
        || fail "$service ended at once: $(tail -n 1 "$run/logs/$service.log")"
    until answers_ready "$port" "$token"; do
        ((${EPOCHREALTIME/./} < limit)) || fail "$service did not get ready within 30 s"
        sleep 0.002
    done
    printf '%d' $(((${EPOCHREALTIME/./} - begin) / 1000))
}

memory_measurements() {
    local service=$1 repeat=$2 pid
    pid=$(running_pid "$run/pids/$service") || fail "$service is not running"
    measurement f "rss $service" "$(awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$pid/status")" MB "$repeat"
    measurement f "pss $service" "$(awk '/^Pss:/ { printf "%.1f", $2 / 1024 }' "/proc/$pid/smaps_rollup")" MB "$repeat"
}

part_f() {
    local repeat service idle_seconds=$1 services
    mapfile -t services < <(suite_services)
    for ((repeat = 1; repeat <= repeats; repeat++)); do
        for service in "${services[@]}"; do
            measurement f "ready $service" "$(restart_service "$service")" ms "$repeat"
        done
        progress "repeat $repeat: all restarted, idle for $idle_seconds s"
        sleep "$idle_seconds"
        for service in "${services[@]}"; do memory_measurements "$service" "$repeat"; done
    done
}
