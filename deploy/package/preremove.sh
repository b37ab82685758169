#!/bin/sh
# Before a removal ("remove" on Debian, 0 on RPM), and before an upgrade, which does nothing here.
set -e

case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now gonebox.service || true
	fi
	;;
esac
