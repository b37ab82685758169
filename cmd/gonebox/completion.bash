# Completes command lines of gonebox in bash. Written by: gonebox completion bash
_gonebox() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} at=gonebox words='' i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case "$at ${COMP_WORDS[i]}" in
{{- range slice . 1}}
		'{{.Path}}') at='{{.Path}}' ;;
{{- end}}
		esac
	done
	# In --flag=value bash takes the equals sign for a word of its own.
	if [ "$cur" = = ]; then
		cur=''
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	case "$at $prev" in
{{- range $c := .}}{{range .Flags}}{{if not .Bool}}
	'{{$c.Path}} --{{.Name}}'{{if .Short}} | '{{$c.Path}} -{{.Short}}'{{end}}) words='{{join .Values " "}}' ;;
{{- end}}{{end}}{{end}}
	*)
		case "$at:$cur" in
{{- range .}}
		'{{.Path}}':-*) words='{{range $i, $f := .Flags}}{{if $i}} {{end}}--{{.Name}}{{end}}' ;;
		'{{.Path}}':*) words='{{range $i, $w := .Commands}}{{if $i}} {{end}}{{.Name}}{{end}}{{join .Values " "}}' ;;
{{- end}}
		esac
		;;
	esac
	# Without a match bash completes the names of files, as -o default says.
	[ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$cur")) # bash 3.2 of macOS has no mapfile
}
complete -o bashdefault -o default -F _gonebox gonebox
