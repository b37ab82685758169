# Completes command lines of gonebox in fish. Written by: gonebox completion fish

# Succeeds if its argument is the command of the line so far.
function __gonebox_at
    set -l at gonebox
    for word in (commandline -opc)[2..]
        switch "$at $word"
            case{{range slice . 1}} '{{.Path}}'{{end}}
                set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
{{range $c := .}}
{{range .Commands}}complete -c gonebox -n "__gonebox_at '{{$c.Path}}'" -f -a {{.Name}} -d {{quote .Help}}
{{end}}{{range .Values}}complete -c gonebox -n "__gonebox_at '{{$c.Path}}'" -f -a {{.}}
{{end}}{{range .Flags}}complete -c gonebox -n "__gonebox_at '{{$c.Path}}'"{{if .Short}} -s {{.Short}}{{end}} -l {{.Name}}{{if .Values}} -x -a '{{join .Values " "}}'{{else if .Folder}} -x -a '(__fish_complete_directories)'{{else if not .Bool}} -r{{end}} -d {{quote .Help}}
{{end}}{{end -}}
