# shellcheck shell=bash
# A private Postgres 15 under <dir>/postgres. Needs processes.sh, console.sh and tls.sh.

postgres_binaries() {
    local bin
    for bin in /usr/lib/postgresql/15/bin "$(pg_config --bindir 2>/dev/null || true)"; do
        [[ -n $bin && -x $bin/initdb ]] && printf '%s' "$bin" && return
    done
    fail "Postgres 15 is not installed: run scripts/bootstrap as root"
}

# The words to put before a command so that it runs as the user that may run Postgres, which refuses to be root. A clone
# below a home which that user cannot enter is reached by the one capability for it, not by changing permissions.
postgres_user() {
    local home=$1 words=()
    if ((EUID == 0)); then
        words=(setpriv --reuid=postgres --regid=postgres --init-groups)
        "${words[@]}" test -w "$home" 2>/dev/null \
            || words+=(--inh-caps=+dac_read_search --ambient-caps=+dac_read_search)
        printf '%s\n' "${words[@]}"
    fi
}

postgres_configuration() {
    local home=$1 port=$2 socket=$1/socket durable=on wal=2GB
    [[ ! -e ${home%/postgres}/volatile ]] || durable=off wal=512MB
    # The kernel's limit for a socket path is 107 bytes; without a socket there is still TCP.
    ((${#socket} < 85)) || socket=""
    cat <<SETTINGS
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$socket'
max_connections = 600
track_commit_timestamp = on
shared_buffers = 256MB
max_wal_size = $wal
checkpoint_timeout = 15min
fsync = $durable
full_page_writes = $durable
synchronous_commit = $durable
jit = off
ssl = on
ssl_cert_file = '$home/server.pem'
ssl_key_file = '$home/server.key'
password_encryption = scram-sha-256
timezone = 'UTC'
log_timezone = 'UTC'
log_min_duration_statement = 50ms
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
log_line_prefix = '%m [%p] %a %u %d '
shared_preload_libraries = 'pg_stat_statements'
SETTINGS
}

prepare_postgres() {
    local dir=$1 home=$1/postgres bin password user place
    [[ -f $home/data/PG_VERSION ]] && return
    bin=$(postgres_binaries)
    password=$(secret_in "$dir/secrets/postgres")
    mkdir -p "$home/socket"
    printf '%s\n' "$password" >"$home/password"
    cp "$dir/tls/server.pem" "$dir/tls/server.key" "$home/"
    chmod 700 "$home" "$home/socket"
    chmod 600 "$home/password" "$home/server.key"
    if ((EUID == 0)); then
        chown -R postgres:postgres "$home"
    fi
    # No sync here: an initdb cut short is thrown away. The running server does sync.
    mapfile -t user < <(postgres_user "$home")
    place=$(readlink "$home/data" || printf '%s' "$home/data")
    rm -rf "$place.new"
    "${user[@]}" "$bin/initdb" --no-sync --pgdata="$place.new" --username=postgres --encoding=UTF8 \
        --locale=C.UTF-8 --auth-local=scram-sha-256 --auth-host=scram-sha-256 --pwfile="$home/password" \
        >"$dir/logs/initdb.log" 2>&1 || fail "initdb failed, see $dir/logs/initdb.log"
    rm -rf "$place"
    mv "$place.new" "$place"
    rm -f "$home/password"
}

# After a kill the lock files stay, and Postgres takes a zombie that nobody has collected for a running server.
remove_stale_locks() {
    local home=$1 lock=$1/data/postmaster.pid pid
    [[ -s $lock ]] || return 0
    read -r pid <"$lock"
    if pid_is_gone "$pid"; then
        rm -f "$lock" "$home"/socket/.s.PGSQL.*.lock
    fi
}

start_postgres() {
    local dir=$1 home=$1/postgres port bin user
    running_pid "$dir/pids/postgres" >/dev/null && return
    bin=$(postgres_binaries)
    prepare_postgres "$dir"
    must_be_free Postgres "$dir/ports/postgres"
    port=$(free_port "$dir/ports/postgres")
    postgres_configuration "$home" "$port" >"$home/postgresql.conf"
    chmod 644 "$home/postgresql.conf"
    remove_stale_locks "$home"
    mapfile -t user < <(postgres_user "$home")
    start_process "$dir/pids/postgres" "$dir/logs/postgres.log" \
        "${user[@]}" "$bin/postgres" -D "$home/data" -c "config_file=$home/postgresql.conf"
}

postgres_ready() {
    local dir=$1
    "$(postgres_binaries)/pg_isready" -q -h 127.0.0.1 -p "$(<"$dir/ports/postgres")" -t 1
}

# Fast shutdown: sessions are ended, nothing is lost.
stop_postgres() {
    stop_process "$1/pids/postgres" INT 20
}

postgres_environment() {
    local dir=$1 port
    port=$(<"$dir/ports/postgres")
    printf 'POSTGRES_PROGRAMS=%q\n' "$(postgres_binaries)"
    printf 'TRANSFA_TEST_POSTGRES_URL=%s\n' \
        "'postgres://postgres:$(<"$dir/secrets/postgres")@127.0.0.1:$port/postgres?sslmode=disable'"
}
