#!/bin/sh
# After a removal, and on Debian after a purge, which also removes the data and the user. RPM keeps both.
set -e

case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl daemon-reload
	fi
	;;
purge)
	rm -rf /var/lib/gonebox
	if getent passwd gonebox >/dev/null; then
		userdel gonebox
	fi
	;;
esac
