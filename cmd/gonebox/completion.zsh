#compdef gonebox
# Completes command lines of gonebox in zsh. Written by: gonebox completion zsh
_gonebox() {
	local at=gonebox i
	local -a commands flags values
	for ((i = 2; i < CURRENT; i++)); do
		case "$at $words[i]" in
{{- range slice . 1}}
		('{{.Path}}') at='{{.Path}}' ;;
{{- end}}
		esac
	done
	case "$at $words[CURRENT-1]" in
{{- range $c := .}}{{range .Flags}}{{if not .Bool}}
	('{{$c.Path}} --{{.Name}}'{{if .Short}}|'{{$c.Path}} -{{.Short}}'{{end}}) {{if .Values}}compadd -- {{join .Values " "}}{{else if .Folder}}_files -/{{else}}_files{{end}}; return ;;
{{- end}}{{end}}{{end}}
	esac
	case "$at" in
{{- range .}}
	('{{.Path}}')
		commands=({{range .Commands}}{{quote (printf "%s:%s" .Name .Help)}} {{end}})
		flags=({{range .Flags}}{{quote (printf "--%s:%s" .Name .Help)}} {{end}})
		values=({{join .Values " "}}) ;;
{{- end}}
	esac
	if [[ $words[CURRENT] == -* ]]; then
		_describe -o option flags
	elif (( $#commands )); then
		_describe command commands
	elif (( $#values )); then
		compadd -a values
	else
		_files
	fi
}
if [[ $funcstack[1] == _gonebox ]]; then _gonebox "$@"; else compdef _gonebox gonebox; fi
