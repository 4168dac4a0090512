# shellcheck shell=bash
# shellcheck disable=SC2034
# The suite in containers: docker-compose with one file of settings, and how a service is given another version. Needs
# console.sh, processes.sh, docker.sh and $root; $environment is the file of settings, $project the project's name.
# shellcheck disable=SC2154

# All that have a database, in the order in which they are rolled: who hears before who tells.
composed=(analytics console notification subscription account customer auth transaction)

# Every Compose that there is: one is used, all must understand the file.
compose_programs() {
    docker compose version >/dev/null 2>&1 && printf 'docker compose\n'
    command -v docker-compose >/dev/null && printf 'docker-compose\n'
    return 0
}

compose() {
    local program
    read -r -a program <<<"${compose_program:=$(compose_programs | sed -n 1p)}"
    ((${#program[@]} > 0)) || fail "there is no Compose: neither the plugin of docker nor docker-compose is installed"
    "${program[@]}" --project-name "$project" --env-file "$environment" --file "$root/docker-compose.yml" "$@"
}

# compose_setting <name>: as the file of settings has it.
compose_setting() {
    sed -n "s/^$1=//p" "$environment" | tail -n 1
}

# set_compose_setting <name> <value>
set_compose_setting() {
    if grep -q "^$1=" "$environment"; then
        sed -i "s|^$1=.*|$1=$2|" "$environment"
    else
        printf '%s=%s\n' "$1" "$2" >>"$environment"
    fi
}

# container_of <service>: the id of the container that Compose runs for it.
container_of() {
    compose ps -q "$1" | sed -n 1p
}

# edge_address <container>: in the network of the gateway.
edge_address() {
    docker inspect --format "{{(index .NetworkSettings.Networks \"${project}_edge\").IPAddress}}" "$1"
}

# What operators tell HAProxy; its socket is in the gateway's container alone.
gateway_admin() {
    docker exec "$(container_of gateway)" bash -c \
        'exec 3<>/dev/tcp/127.0.0.1/8405; printf "%s\n" "$1" >&3; cat <&3' admin "$1"
}

# gateway_server <service> <address>: the name under which the gateway has the server with this address.
gateway_server() {
    gateway_admin "show servers state $1" | awk -v address="$2" '$5 == address { print $4; exit }'
}

# Two: running, as its health checks say.
gateway_serves() {
    [[ $(gateway_admin "show servers state $1" | awk -v address="$2" '$5 == address { print $6; exit }') == 2 ]]
}

# has_no_sessions <service> <server>
has_no_sessions() {
    [[ $(gateway_admin "show stat" | awk -F , -v service="$1" -v server="$2" \
        '$1 == service && $2 == server { print $5; exit }') == 0 ]]
}

# drain <service> <container>: no further requests; waits until those under way are answered.
drain() {
    local service=$1 server
    server=$(gateway_server "$service" "$(edge_address "$2")")
    [[ -n $server ]] || fail "the gateway does not know $service at the address of $2"
    gateway_admin "set server $service/$server state drain" >/dev/null
    # Whoever had just been given this server counts a moment later.
    sleep 1
    wait_until 60 has_no_sessions "$service" "$server" \
        || say "    $service: requests are still under way after a minute" >&2
    printf '%s' "$server"
}

# The place in the gateway's list is for whoever comes next.
free_place() {
    gateway_admin "set server $1/$2 state ready" >/dev/null
}

# roll <service> <tag>: another version of one service beside the running one, which then goes. First its migrations;
# then a container beside the old one; when the gateway sends it requests, the old one is drained and becomes the new
# version under its own name; then the one beside it is drained and removed. So at the end everything is as Compose
# would have made it.
roll() {
    local service=$1 tag=$2 beside=${project}_${1}_beside old place
    old=$(container_of "$service")
    [[ -n $old ]] || fail "$service does not run"
    set_compose_setting "${service^^}_TAG" "$tag"
    compose run -T --rm --no-deps "$service-migration" >&2 \
        || fail "the migrations of $service $tag failed; the old version goes on"
    docker rm --force "$beside" >/dev/null 2>&1 || true
    compose run --detach --no-deps --use-aliases --name "$beside" "$service" >/dev/null
    await_gateway "$service" "$beside"
    place=$(drain "$service" "$old")
    compose up --detach --no-deps "$service" >/dev/null 2>&1 || fail "$service $tag could not be started"
    free_place "$service" "$place"
    await_gateway "$service" "$(container_of "$service")"
    place=$(drain "$service" "$beside")
    docker stop --time 30 "$beside" >/dev/null
    docker rm "$beside" >/dev/null
    free_place "$service" "$place"
}

await_gateway() {
    local service=$1 container=$2 address
    address=$(edge_address "$container")
    wait_until 90 gateway_serves "$service" "$address" || {
        docker logs --tail 20 "$container" >&2
        fail "the gateway sends no requests to the new container of $service"
    }
}
