package main

import (
	"embed"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

//go:embed completion.bash completion.zsh completion.fish
var completionTemplates embed.FS

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script that completes command lines of gonebox in a shell.
func (f *completionCmd) Run(c *console, parsed *kong.Context) error {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" } // the same in all three shells
	t, err := template.New("").Funcs(template.FuncMap{"quote": quote, "join": strings.Join}).ParseFS(completionTemplates, "completion.*")
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(c.out, "completion."+f.Shell, completions(parsed.Model.Node))
}

// completion is what can follow a command on the command line.
type completion struct {
	Path     string // of the command, such as "gonebox inbox code"
	Commands []completionWord
	Flags    []completionFlag
	Values   []string // of arguments that are one of a few words
}

// completionWord is a command with its help.
type completionWord struct{ Name, Help string }

// completionFlag is a flag with its help and the form of its value.
type completionFlag struct {
	completionWord
	Short  string   // one letter, or empty
	Bool   bool     // whether it has no value
	Values []string // all that are allowed; none if the value is free
	Folder bool     // whether the value is a folder
}

// completions returns the completions of a command and of the commands below it. Hidden ones are left out.
func completions(node *kong.Node) []completion {
	c := completion{Path: node.FullPath()}
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			flag := completionFlag{completionWord: completionWord{f.Name, f.Help}, Bool: f.IsBool(), Folder: f.PlaceHolder == "DIR"}
			if f.Short != 0 {
				flag.Short = string(f.Short)
			}
			if f.Enum != "" {
				flag.Values = f.EnumSlice()
			}
			c.Flags = append(c.Flags, flag)
		}
	}
	for _, argument := range node.Positional {
		if argument.Enum != "" {
			c.Values = append(c.Values, argument.EnumSlice()...)
		}
	}
	all := []completion{c}
	for _, child := range node.Children {
		if !child.Hidden {
			all[0].Commands = append(all[0].Commands, completionWord{child.Name, child.Help})
			all = append(all, completions(child)...)
		}
	}
	return all
}
