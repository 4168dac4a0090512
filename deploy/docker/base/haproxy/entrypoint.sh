#!/bin/sh
# Options alone mean the server, in the foreground with a master that can be told to reload.
set -eu

case ${1:-} in
    -*) set -- haproxy "$@" ;;
esac
if [ "$1" = haproxy ]; then
    shift
    set -- haproxy -W -db "$@"
fi
exec "$@"
