#!/usr/bin/env bash
# Root gives up its rights before the node and its tools.
set -euo pipefail

if [[ ${1:-} == rabbitmq* ]] && ((EUID == 0)); then
    [[ $1 != rabbitmq-server ]] || chown rabbitmq:rabbitmq /var/lib/rabbitmq
    exec setpriv --reuid=rabbitmq --regid=rabbitmq --init-groups "$0" "$@"
fi
exec "$@"
