# shellcheck shell=bash
# A private RabbitMQ node under <dir>/rabbitmq with its own epmd, cookie, node name and ports. Needs processes.sh,
# console.sh and tls.sh.

# The plain programs of the package: the ones in /usr/sbin switch to another user and its files.
rabbitmq_programs() {
    local programs
    for programs in /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin; do
        [[ -x $programs/rabbitmq-server ]] && printf '%s' "$programs" && return
    done
    fail "RabbitMQ is not installed: run scripts/bootstrap as root"
}

rabbitmq_configuration() {
    local dir=$1
    cat <<SETTINGS
listeners.tcp.1 = 127.0.0.1:$(free_port "$dir/ports/amqp")
listeners.ssl.1 = 127.0.0.1:$(free_port "$dir/ports/amqps")
ssl_options.cacertfile = $dir/tls/ca.pem
ssl_options.certfile = $dir/tls/server.pem
ssl_options.keyfile = $dir/tls/server.key
ssl_options.verify = verify_none
ssl_options.fail_if_no_peer_cert = false
management.tcp.ip = 127.0.0.1
management.tcp.port = $(free_port "$dir/ports/management")
prometheus.tcp.ip = 127.0.0.1
prometheus.tcp.port = $(free_port "$dir/ports/rabbitmq-prometheus")
default_user = transfa
default_pass = $(secret_in "$dir/secrets/rabbitmq")
default_user_tags.administrator = true
vm_memory_high_watermark.absolute = 1GB
disk_free_limit.absolute = 200MB
raft.wal_max_size_bytes = 64000000
log.console = true
log.console.level = info
log.file = false
SETTINGS
}

# Everything the node and its command line need to know, as lines for "env".
rabbitmq_settings() {
    local dir=$1 home=$1/rabbitmq epmd dist
    epmd=$(free_port "$dir/ports/epmd")
    dist=$(free_port "$dir/ports/erlang")
    cat <<SETTINGS
HOME=$home
ERL_EPMD_PORT=$epmd
ERL_EPMD_ADDRESS=127.0.0.1
RABBITMQ_NODENAME=transfa-$dist@localhost
RABBITMQ_DIST_PORT=$dist
RABBITMQ_CTL_DIST_PORT_MIN=$((dist + 12000))
RABBITMQ_CTL_DIST_PORT_MAX=$((dist + 12200))
RABBITMQ_CONF_ENV_FILE=$home/none.conf
RABBITMQ_CONFIG_FILE=$home/rabbitmq.conf
RABBITMQ_ADVANCED_CONFIG_FILE=$home/none.config
RABBITMQ_ENABLED_PLUGINS_FILE=$home/enabled_plugins
RABBITMQ_MNESIA_BASE=$home/data
RABBITMQ_LOG_BASE=$home/log
RABBITMQ_SCHEMA_DIR=$home/schema
RABBITMQ_GENERATED_CONFIG_DIR=$home/generated
RABBITMQ_PLUGINS_EXPAND_DIR=$home/expand
RABBITMQ_SCHEDULER_BIND_TYPE=u
RUNNING_UNDER_SYSTEMD=true
SETTINGS
}

prepare_rabbitmq() {
    local dir=$1 home=$1/rabbitmq programs
    programs=$(rabbitmq_programs)
    mkdir -p "$home/data" "$home/log" "$home/schema" "$home/generated"
    rabbitmq_configuration "$dir" >"$home/rabbitmq.conf"
    printf '[rabbitmq_management,rabbitmq_prometheus].\n' >"$home/enabled_plugins"
    if [[ ! -s $home/.erlang.cookie ]]; then
        secret >"$home/.erlang.cookie"
        chmod 400 "$home/.erlang.cookie"
    fi
    rabbitmq_settings "$dir" >"$home/settings"
    {
        printf '#!/usr/bin/env bash\n# rabbitmqctl for the node of this folder.\n'
        printf 'mapfile -t settings <%q\n' "$home/settings"
        # shellcheck disable=SC2016
        printf 'exec env "${settings[@]}" %q "$@"\n' "$programs/rabbitmqctl"
    } >"$dir/rabbitmqctl"
    chmod +x "$dir/rabbitmqctl"
}

start_rabbitmq() {
    local dir=$1 home=$1/rabbitmq programs epmd settings
    running_pid "$dir/pids/rabbitmq" >/dev/null && return
    must_be_free RabbitMQ "$dir"/ports/{amqp,amqps,management,rabbitmq-prometheus,erlang}
    programs=$(rabbitmq_programs)
    prepare_rabbitmq "$dir"
    mapfile -t settings <"$home/settings"
    epmd=$(<"$dir/ports/epmd")
    if ! running_pid "$dir/pids/epmd" >/dev/null; then
        start_process "$dir/pids/epmd" "$dir/logs/epmd.log" epmd -port "$epmd" -address 127.0.0.1
        wait_until 10 port_answers "$epmd" || fail "epmd did not start, see $dir/logs/epmd.log"
    fi
    # The list in the middle goes through two shells of the package unquoted, hence no spaces in it.
    start_process "$dir/pids/rabbitmq" "$dir/logs/rabbitmq.log" env "${settings[@]}" \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}" "$programs/rabbitmq-server"
}

rabbitmq_ready() {
    local dir=$1
    curl -fsS -o /dev/null --max-time 2 -u "transfa:$(<"$dir/secrets/rabbitmq")" \
        "http://127.0.0.1:$(<"$dir/ports/management")/api/health/checks/port-listener/$(<"$dir/ports/amqp")" 2>/dev/null
}

stop_rabbitmq() {
    stop_process "$1/pids/rabbitmq" TERM 20
}

stop_epmd() {
    stop_process "$1/pids/epmd" TERM 5
}

# in_url <path>: a path as it stands in a URL, whatever characters its folders have.
in_url() {
    local LC_ALL=C path=$1 index character
    for ((index = 0; index < ${#path}; index++)); do
        character=${path:index:1}
        case $character in
            [A-Za-z0-9/._~-]) printf '%s' "$character" ;;
            *) printf '%%%02X' "'$character" ;;
        esac
    done
}

rabbitmq_environment() {
    local dir=$1 password
    password=$(<"$dir/secrets/rabbitmq")
    printf "TRANSFA_TEST_RABBITMQ_URL='amqp://transfa:%s@127.0.0.1:%s/%%2F'\n" "$password" "$(<"$dir/ports/amqp")"
    printf "TRANSFA_TEST_RABBITMQ_TLS_URL='amqps://transfa:%s@localhost:%s/%%2F?cacertfile=%s'\n" \
        "$password" "$(<"$dir/ports/amqps")" "$(in_url "$dir/tls/ca.pem")"
    printf "TRANSFA_TEST_RABBITMQ_MANAGEMENT_URL='http://transfa:%s@127.0.0.1:%s'\n" \
        "$password" "$(<"$dir/ports/management")"
    printf "TRANSFA_TEST_RABBITMQCTL='%s'\n" "$dir/rabbitmqctl"
}
