# shellcheck shell=bash
# Processes that outlive the script which started them. A pid file holds the pid and the start time, so that a number
# which the kernel has given to somebody else is never signalled.

process_started_at() {
    local stat fields
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    # The name in parentheses may hold spaces; what follows it starts with field 3.
    read -r -a fields <<<"${stat##*) }"
    ((${#fields[@]} > 19)) || return 1
    # A zombie is dead, whoever has not collected it.
    [[ ${fields[0]} != Z ]] || return 1
    printf '%s' "${fields[19]}"
}

record_process() {
    local pidfile=$1 pid=$2 started
    started=$(process_started_at "$pid") || return 1
    printf '%s %s\n' "$pid" "$started" >"$pidfile"
}

# Prints the pid when the recorded process is still that process.
running_pid() {
    local pidfile=$1 pid started
    [[ -s $pidfile ]] || return 1
    read -r pid started <"$pidfile"
    [[ $(process_started_at "$pid") == "$started" ]] || return 1
    printf '%s' "$pid"
}

# One start at a time per user: from choosing ports until the servers listen on them, or are known by their files. The turn
# ends with end_turn_to_start, or with the script.
take_turn_to_start() {
    exec 9>"${TMPDIR:-/tmp}/transfa-servers-$EUID.lock"
    flock -w 600 9 || fail "another script has been starting servers for ten minutes"
}

end_turn_to_start() {
    exec 9>&-
}

# A process that stays must hold nothing of its starter but what it is given: neither a lock nor the end of a pipe.
close_inherited() {
    local fd
    for fd in /proc/self/fd/*; do
        fd=${fd##*/}
        ((fd <= 2)) || exec {fd}>&-
    done
}

# start_process <pidfile> <log> <command...>: starts a process in a session of its own.
start_process() {
    local pidfile=$1 log=$2
    shift 2
    mkdir -p "$(dirname "$pidfile")" "$(dirname "$log")"
    (
        close_inherited
        exec setsid "$@" </dev/null >>"$log" 2>&1
    ) &
    local pid=$!
    disown "$pid"
    record_process "$pidfile" "$pid" || return 1
}

signal_process() {
    local pidfile=$1 signal=$2 pid
    pid=$(running_pid "$pidfile") || return 1
    kill -s "$signal" "$pid" 2>/dev/null
}

# The process and its direct children: Postgres serves each connection in a child.
signal_family() {
    local pidfile=$1 signal=$2 pid
    pid=$(running_pid "$pidfile") || return 1
    kill -s "$signal" "$pid" 2>/dev/null || return 1
    pkill -"$signal" -P "$pid" 2>/dev/null || true
}

# wait_until <seconds> <command...>: polls until the command succeeds.
wait_until() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.1
    done
}

process_is_gone() {
    ! running_pid "$1" >/dev/null
}

# stop_process <pidfile> <signal> <seconds>: asks, waits, then kills together with the children.
stop_process() {
    local pidfile=$1 signal=$2 seconds=$3
    if signal_process "$pidfile" "$signal"; then
        # A paused process would not hear it.
        signal_family "$pidfile" CONT || true
        wait_until "$seconds" process_is_gone "$pidfile" || kill_process "$pidfile"
    fi
    rm -f "$pidfile"
}

# kill -9 of a process and its direct children.
kill_process() {
    local pidfile=$1 pid child children
    pid=$(running_pid "$pidfile") || return 0
    mapfile -t children < <(pgrep -P "$pid")
    for child in "$pid" "${children[@]}"; do
        kill -s KILL "$child" 2>/dev/null || true
    done
    wait_until 10 process_is_gone "$pidfile" || return 1
    for child in "${children[@]}"; do
        wait_until 5 pid_is_gone "$child" || return 1
    done
}

pid_is_gone() {
    ! process_started_at "$1" >/dev/null
}

# free_port <file>: a loopback port nobody listens on, kept in that file so that a restart gets the same one. Below the
# kernel's range for outgoing connections, which could otherwise take it while a server is down.
free_port() {
    local file=$1 port attempt
    if [[ -s $file ]]; then
        cat "$file"
        return
    fi
    for ((attempt = 0; attempt < 200; attempt++)); do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        port_is_free "$port" || continue
        mkdir -p "$(dirname "$file")"
        # A neighbour may have been given it and not listen yet.
        grep -rqx "$port" "$(dirname "$file")" && continue
        printf '%s\n' "$port" >"$file"
        printf '%s' "$port"
        return
    done
    fail "no free loopback port found between 20000 and 32000"
}

# must_be_free <what> <port file>...: a port kept from an earlier start may be somebody else's by now. The last user may
# need a moment to let go of it.
must_be_free() {
    local what=$1 file
    shift
    for file; do
        [[ ! -s $file ]] || wait_until 3 port_is_free "$(<"$file")" \
            || fail "port $(<"$file") of $what is taken by another program: end that, or remove $file for another port"
    done
}

port_is_free() {
    ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

port_answers() {
    ! port_is_free "$1"
}

# A password or token that needs no quoting anywhere.
secret() {
    od -An -N16 -tx1 /dev/urandom | tr -d ' \n'
}

# secret_in <file>: the secret kept there, made on first use.
secret_in() {
    if [[ ! -s $1 ]]; then
        (umask 077 && mkdir -p "$(dirname "$1")" && secret >"$1")
    fi
    cat "$1"
}

# What the provider signs webhooks with: it takes ten characters at most, so each is one of 62.
webhook_secret() {
    local text
    text=$(head -c 60 /dev/urandom | base64 -w 0 | tr -d '+/=')
    printf '%s' "${text:0:10}"
}
