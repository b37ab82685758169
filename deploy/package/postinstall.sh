#!/bin/sh
# After an installation and after an upgrade. The service is not started by an installation, since it has to be configured first; an
# upgrade restarts one that runs.
set -e

if ! getent passwd gonebox >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/gonebox --no-create-home --shell /usr/sbin/nologin gonebox
fi
install -d -m 0700 -o gonebox -g gonebox /var/lib/gonebox
if [ -e /etc/gonebox.yaml ]; then # the service reads it, and other users do not
	chgrp gonebox /etc/gonebox.yaml
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart gonebox.service
fi
