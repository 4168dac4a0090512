# shellcheck shell=bash
# Three RabbitMQ nodes on loopback that form a cluster. Needs processes.sh, console.sh, rabbitmq.sh and $scripts.
#
# Each node has a name of its own in a domain that no name server knows. Erlang reads the addresses from a file, a file
# per node: a node finds each of the others at an address where a proxy listens, one proxy per pair of nodes. The proxy
# also answers for epmd there, with a port of its own. One that is paused holds everything that the two would say to
# each other, new connections included, and nobody is told: a network that swallows packets. Clients do not go through
# it.
#
# <dir>/node-<n> is a node's folder, with the same layout as that of a single node (rabbitmq.sh); epmd, cookie, password
# and proxies belong to all of them.

# shellcheck disable=SC2034
cluster_nodes=(1 2 3)
# Each unordered pair, which is one proxy.
# shellcheck disable=SC2034
cluster_links=(1-2 1-3 2-3)

node_host() {
    printf 'node-%s.broker.transfa.test' "$1"
}

node_name() {
    printf 'transfa-%s@%s' "$1" "$(node_host "$1")"
}

# link_address <from> <to>: where one node finds another.
link_address() {
    printf '127.0.1.%s' "$(($1 * 10 + $2))"
}

# names_seen_by <n>: the hosts as one node knows them; 0 is the command line, which goes past the proxies. An address
# stands once: a second line would take the place of the first.
names_seen_by() {
    local viewer=$1 node here='"localhost"'
    printf '{lookup, [file]}.\n'
    for node in "${cluster_nodes[@]}"; do
        if ((viewer == 0 || viewer == node)); then
            here+=", \"$(node_host "$node")\""
        else
            printf '{host, {%s}, ["%s"]}.\n' "$(link_address "$viewer" "$node" | tr . ,)" "$(node_host "$node")"
        fi
    done
    printf '{host, {127,0,0,1}, [%s]}.\n' "$here"
}

# What differs from a single node. The answers to a lost neighbour are those of deploy/kubernetes/base/rabbitmq.
cluster_configuration() {
    local dir=$1 node
    rabbitmq_configuration "$dir/node-$2"
    printf 'cluster_formation.peer_discovery_backend = classic_config\n'
    for node in "${cluster_nodes[@]}"; do
        printf 'cluster_formation.classic_config.nodes.%s = %s\n' "$node" "$(node_name "$node")"
    done
    cat <<SETTINGS
cluster_partition_handling = pause_minority
queue_leader_locator = balanced
net_ticktime = ${BROKER_NET_TICKTIME:-30}
SETTINGS
}

# node_settings <dir> <n>: the lines of a single node, with what is different here put behind them.
node_settings() {
    local dir=$1 node=$2
    rabbitmq_settings "$dir/node-$node"
    cat <<SETTINGS
RABBITMQ_USE_LONGNAME=true
RABBITMQ_NODENAME=$(node_name "$node")
ERL_INETRC=$dir/node-$node/rabbitmq/names
SETTINGS
}

prepare_node() {
    local dir=$1 node=$2 own=$1/node-$2 home=$1/node-$2/rabbitmq programs kind
    programs=$(rabbitmq_programs)
    mkdir -p "$home"/{data,log,schema,generated} "$own"/{ports,pids,logs,secrets}
    chmod 700 "$own/secrets"
    # One certificate, password, cookie and epmd for all.
    ln -sfn "$dir/tls" "$own/tls"
    cp "$dir/secrets/rabbitmq" "$own/secrets/rabbitmq"
    cp "$dir/ports/epmd" "$own/ports/epmd"
    install -m 400 "$dir/secrets/cookie" "$home/.erlang.cookie"
    for kind in amqp amqps management rabbitmq-prometheus erlang; do
        # A port is free when no node has it: all of them stand in one folder as well.
        free_port "$dir/ports/node-$node-$kind" >"$own/ports/$kind"
    done
    cluster_configuration "$dir" "$node" >"$home/rabbitmq.conf"
    printf '[rabbitmq_management,rabbitmq_prometheus].\n' >"$home/enabled_plugins"
    names_seen_by "$node" >"$home/names"
    node_settings "$dir" "$node" >"$home/settings"
    {
        printf '#!/usr/bin/env bash\n# rabbitmqctl, or the program named by RABBITMQ_PROGRAM, for node %s.\n' "$node"
        printf 'mapfile -t settings <%q\n' "$home/settings"
        # shellcheck disable=SC2016
        printf 'exec env "${settings[@]}" ERL_INETRC=%q %q/"${RABBITMQ_PROGRAM:-rabbitmqctl}" "$@"\n' \
            "$dir/names" "$programs"
    } >"$dir/rabbitmqctl-$node"
    chmod +x "$dir/rabbitmqctl-$node"
}

# Both directions of one pair: each finds the other's name and the other itself. Not under the other's own port: the
# other would find it taken when it starts.
# shellcheck disable=SC2154
link_configuration() {
    local dir=$1 one=${2%-*} other=${2#*-} from to address
    cat <<SETTINGS
global
    nbthread 1
    maxconn 500
    lua-load $scripts/lib/broker-names.lua
defaults
    mode tcp
    # The port of a node that is dead refuses, and whoever asks is to hear so at once.
    retries 0
    timeout connect 10s
    timeout client 24h
    timeout server 24h
SETTINGS
    for from in "$one" "$other"; do
        to=$one
        [[ $from == "$other" ]] || to=$other
        address=$(link_address "$from" "$to")
        cat <<SETTINGS
frontend $from-asks-for-$to
    bind $address:$(<"$dir/ports/epmd")
    tcp-request inspect-delay 5s
    tcp-request content set-var(sess.port) int($(free_port "$dir/ports/link-$to"))
    tcp-request content use-service lua.erlang_name
listen $from-to-$to
    bind $address:$(free_port "$dir/ports/link-$to")
    server it 127.0.0.1:$(<"$dir/node-$to/ports/erlang")
SETTINGS
    done
}

start_link() {
    local dir=$1 link=$2
    running_pid "$dir/pids/link-$link" >/dev/null && return
    link_configuration "$dir" "$link" >"$dir/link-$link.cfg"
    start_process "$dir/pids/link-$link" "$dir/logs/link-$link.log" "$(haproxy_program)" -db -f "$dir/link-$link.cfg"
}

haproxy_program() {
    local program
    for program in "$(command -v haproxy || true)" /usr/sbin/haproxy; do
        [[ -n $program && -x $program ]] && printf '%s' "$program" && return
    done
    fail "haproxy is not installed: run scripts/bootstrap as root"
}

start_node() {
    local dir=$1 node=$2 own=$1/node-$2 settings programs
    running_pid "$own/pids/rabbitmq" >/dev/null && return
    programs=$(rabbitmq_programs)
    must_be_free "node $node" "$own"/ports/{amqp,amqps,management,rabbitmq-prometheus,erlang}
    mapfile -t settings <"$own/rabbitmq/settings"
    # The list in the middle goes through two shells of the package unquoted, hence no spaces in it. Three nodes share
    # the processors: none may spin while it waits.
    start_process "$own/pids/rabbitmq" "$own/logs/rabbitmq.log" env "${settings[@]}" \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none" \
        "$programs/rabbitmq-server"
}

# A member of the cluster that takes clients.
node_ready() {
    rabbitmq_ready "$1/node-$2"
}

await_node() {
    local dir=$1 node=$2 deadline=$((SECONDS + ${BROKER_START_SECONDS:-180}))
    until node_ready "$dir" "$node"; do
        if ! running_pid "$dir/node-$node/pids/rabbitmq" >/dev/null || ((SECONDS >= deadline)); then
            tail -n 20 "$dir/node-$node/logs/rabbitmq.log" >&2
            fail "node $node did not get ready, see $dir/node-$node/logs/rabbitmq.log"
        fi
        sleep 0.3
    done
}

# links_of <n>: the pairs that a node is in.
links_of() {
    local link
    for link in "${cluster_links[@]}"; do
        [[ $link != *"$1"* ]] || printf '%s\n' "$link"
    done
}

cluster_environment() {
    local dir=$1 node password hosts=()
    password=$(<"$dir/secrets/rabbitmq")
    for node in "${cluster_nodes[@]}"; do hosts+=("127.0.0.1:$(<"$dir/node-$node/ports/amqp")"); done
    printf "TRANSFA_TEST_RABBITMQ_URL='amqp://transfa:%s@%s/%%2F'\n" "$password" "$(
        IFS=,
        printf '%s' "${hosts[*]}"
    )"
    printf "TRANSFA_TEST_RABBITMQ_MANAGEMENT_URL='http://transfa:%s@127.0.0.1:%s'\n" \
        "$password" "$(<"$dir/node-1/ports/management")"
}
