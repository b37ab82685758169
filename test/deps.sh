#!/usr/bin/env bash
# Installs what the tests need of the machine and nothing else, on Debian. Where all is there it only looks and is done.
# With the argument failover it also installs what make failover needs, and with release what make release-test needs.
set -euo pipefail

# Each row: what must be there (a program, a file by its path, or a module of Perl), and the package that brings it.
needs='
gcc                   gcc
/usr/include/stdlib.h libc6-dev
git                   git
curl                  curl
jq                    jq
python3               python3
/usr/lib/python3/dist-packages/build/__init__.py      python3-build
/usr/lib/python3/dist-packages/setuptools/__init__.py python3-setuptools
/usr/lib/python3/dist-packages/pytest/__init__.py     python3-pytest
/usr/share/python-wheels                              python3-venv
strace                strace
promtool              prometheus
swaks                 swaks
perl:Net::SSLeay      libnet-ssleay-perl
smtp-source           postfix
dovecot               dovecot-imapd
initdb                postgresql
chromium-headless-shell chromium-headless-shell
rpm2cpio              rpm2cpio
cpio                  cpio
mandoc                mandoc
zsh                   zsh
fish                  fish
'

if [ "${1:-}" = failover ]; then # for make failover
	needs+='
patroni               patroni
etcd                  etcd-server
'
fi

if [ "${1:-}" = release ]; then # for make release-test
	needs+='
debootstrap           debootstrap
rpm                   rpm
'
fi

PATH=$PATH:/usr/sbin:/sbin # smtp-source lives there
for bin in /usr/lib/postgresql/*/bin; do PATH=$PATH:$bin; done # Debian keeps initdb apart, a folder a version

missing=()
while read -r thing package; do
	[ -n "$thing" ] || continue
	case $thing in
	/*) [ -e "$thing" ] ;;
	perl:*) perl -M"${thing#perl:}" -e 1 2>/dev/null ;;
	*) command -v "$thing" >/dev/null ;;
	esac || missing+=("$package")
done <<<"$needs"
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "test/deps.sh: please install what stands for the Debian packages ${missing[*]}" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "test/deps.sh: the tests need ${missing[*]}; run as root: apt-get install ${missing[*]}" >&2
	exit 1
fi

echo "test/deps.sh: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "$@" </dev/null >"$log" 2>&1 || { cat "$log" >&2; return 1; }; }

# Only a tool of Postfix is wanted: no mail system is configured, and so none is started.
if [[ " ${missing[*]} " == *" postfix "* ]]; then
	debconf-set-selections <<<'postfix postfix/main_mailer_type select No configuration'
fi
quietly apt-get update -qq
# The tests start servers of their own: the package is kept from making one that runs all the time.
if [[ " ${missing[*]} " == *" postgresql "* ]]; then
	quietly apt-get install -y -qq --no-install-recommends postgresql-common
	sed -i 's/^#\? *create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
fi
quietly apt-get install -y -qq --no-install-recommends "${missing[@]}"
