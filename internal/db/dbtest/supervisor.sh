# supervisor BINARIES FOLDER: keeps a PostgreSQL server as long as its standard input is open, then removes it with its
# folder. Each line of input is a command; each is answered with ok, or with what went wrong.
bin=$1 dir=$2 data=$2/data
trap '' HUP INT TERM
echo $$ >"$dir/supervisor.pid"
echo ok

init() {
	"$bin/initdb" -D "$data" -U gonebox -A trust -E UTF8 --locale=C --no-sync --no-instructions >"$dir/log" 2>&1 &&
		echo "unix_socket_directories='$dir'" | cat - "$dir/settings" >>"$data/postgresql.conf"
}

start() {
	"$bin/pg_ctl" -D "$data" -l "$dir/log" -s -w -t 60 start </dev/null >/dev/null 2>&1
}

# signal_all sends a signal to every process of the server. The first, stopped, starts no other meanwhile; it is stopped
# only when its state says so, since a fork in which the signal finds it is completed.
signal_all() {
	first=$(head -n 1 "$data/postmaster.pid") || return
	kill -STOP "$first" || return
	while grep -q '^State:.[RSD]' "/proc/$first/status" 2>/dev/null; do sleep 0.01; done
	children=$(ps -o pid= --ppid "$first" 2>/dev/null || cat "/proc/$first/task/$first/children")
	kill "$1" "$first" $children 2>/dev/null # a child may have ended
	return 0
}

# Of the processes, the first one's children go with it: they are told by the pipe that it held.
kill_all() {
	signal_all -9 || return
	while kill -0 "$first" 2>/dev/null; do sleep 0.01; done
	return 0
}

while read -r command arguments; do
	case $command in
	set) echo "$arguments" >>"$dir/settings" ;;
	init) init ;;
	start) start ;;
	stop) "$bin/pg_ctl" -D "$data" -s -w -m fast stop >/dev/null 2>&1 ;;
	kill) kill_all ;;
	freeze) signal_all -STOP ;;
	thaw) signal_all -CONT ;;
	esac && echo ok || echo "$command failed"
done

signal_all -CONT 2>/dev/null # what is frozen does not stop
"$bin/pg_ctl" -D "$data" -s -w -m immediate stop >/dev/null 2>&1
rm -rf "$dir"
