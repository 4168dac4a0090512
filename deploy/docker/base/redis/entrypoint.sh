#!/bin/sh
# Options or a configuration file alone mean the server; root gives up its rights before it.
set -eu

case ${1:-} in
    -* | *.conf) set -- redis-server "$@" ;;
esac
if [ "$1" = redis-server ] && [ "$(id -u)" = 0 ]; then
    chown redis:redis .
    exec setpriv --reuid=redis --regid=redis --clear-groups "$0" "$@"
fi
# Outside of a container Redis listens to its own machine alone; in one, the network decides who reaches it.
if [ "$1" = redis-server ]; then
    set -- "$@" --protected-mode no
fi
exec "$@"
