# shellcheck shell=bash
# A server that runs only while it is being restored: reachable by nobody but who restores, through a socket in a folder
# of its own. Needs console.sh, processes.sh, postgres.sh and backup.sh; $scripts, $data (the data folder) and $work (the
# folder of the socket).
# shellcheck disable=SC2154

# The words before a command that runs as the user who may run Postgres, and reads a backup that only root may read.
restoring_user() {
    ((EUID != 0)) || printf '%s\n' setpriv --reuid=postgres --regid=postgres --init-groups \
        --inh-caps=+dac_read_search --ambient-caps=+dac_read_search
}

# What the server was made with it keeps; commits wait for no standby, for none listens yet.
private_configuration() {
    local name
    cat <<SETTINGS
listen_addresses = ''
unix_socket_directories = '$work'
hba_file = '$work/pg_hba.conf'
ssl = off
hot_standby = off
autovacuum = off
synchronous_standby_names = ''
timezone = 'UTC'
log_timezone = 'UTC'
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
SETTINGS
    for name in wal_level max_connections max_worker_processes max_wal_senders max_prepared_xacts max_locks_per_xact \
        track_commit_timestamp; do
        LC_ALL=C "$(postgres_binaries)/pg_controldata" "$data" | sed -n "s/^$name setting: */$name = /p"
    done | sed 's/^max_prepared_xacts/max_prepared_transactions/; s/^max_locks_per_xact/max_locks_per_transaction/'
}

# restore_settings <folder> [<moment>]: how it comes by its WAL, and where it stops.
restore_settings() {
    printf "restore_command = '\"%s\" \"%s\" \"%%f\" \"%%p\" %s'\n" \
        "$scripts/lib/fetch-wal" "$1/wal" "$(segment_size "$1")"
    printf "recovery_target_action = 'promote'\n"
    [[ -z ${2:-} ]] || printf "recovery_target_time = '%s'\n" "$2"
}

# start_private <folder> [<moment>]: returns when everything has been applied and the server takes writes.
start_private() {
    local user
    printf 'local all all trust\n' >"$work/pg_hba.conf"
    { private_configuration; restore_settings "$@"; } >"$work/postgresql.conf"
    ((EUID != 0)) || chown -R postgres:postgres "$work"
    mapfile -t user < <(restoring_user)
    # ALTER SYSTEM has written into the data folder what it wants, so that what must not hold here comes as arguments.
    start_process "$work/pid" "$work/log" "${user[@]}" "$(postgres_binaries)/postgres" -D "$data" \
        -c "config_file=$work/postgresql.conf" -c synchronous_standby_names= -c hot_standby=off -c listen_addresses= \
        -c "unix_socket_directories=$work" -c "hba_file=$work/pg_hba.conf" -c ssl=off -c shared_preload_libraries= \
        -c archive_mode=off \
        || fail "the server did not start: $(tail -n 1 "$work/log")"
    until [[ $(private_psql postgres "SELECT NOT pg_is_in_recovery()" 2>/dev/null) == t ]]; do
        running_pid "$work/pid" >/dev/null || fail "the server ended: $(grep -E 'FATAL|PANIC' "$work/log" | tail -n 1)"
        sleep 0.2
    done
}

stop_private() {
    # As long as its last checkpoint takes.
    stop_process "$work/pid" INT 3600
}

# private_psql <database> <statement> [<psql's options>...]
private_psql() {
    local database=$1 statement=$2
    shift 2
    psql -h "$work" -U postgres -d "$database" -XAtq -F ' ' -v ON_ERROR_STOP=1 "$@" <<<"$statement"
}
