package main

import (
	"fmt"
	"runtime/debug"

	"github.com/gonebox/gonebox/internal/app"
)

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

// Help is shown below the command's flags.
func (*versionCmd) Help() string {
	return `Example:
  gonebox version --json`
}

// build is what the Go tool recorded when it made this binary.
type build struct {
	Version  string `json:"version"`  // of the module, "(devel)" when built from a directory
	Revision string `json:"revision"` // commit, empty when unknown
	Modified bool   `json:"modified"` // whether the directory had changes on top of it
	Go       string `json:"go"`       // release of Go
}

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{Version: "unknown"}
	}
	b := build{Version: info.Main.Version, Go: info.GoVersion}
	if app.Version != "dev" { // a release says what it is
		b.Version = app.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Run prints what this binary was built from.
func (v *versionCmd) Run(c *console) error {
	b := thisBuild()
	if v.JSON {
		return printJSON(c.out, b)
	}
	line := "gonebox " + b.Version
	if b.Revision != "" {
		line += " " + b.Revision[:min(len(b.Revision), 12)]
	}
	if b.Modified {
		line += " with changes"
	}
	_, err := fmt.Fprintf(c.out, "%s, %s\n", line, b.Go)
	return err
}
