package main

import (
	"fmt"
	"runtime/debug"

	"github.com/gonebox/gonebox/internal/app"
)

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

// build is the information that the Go tool recorded in the binary.
type build struct {
	Version  string `json:"version"`  // of the module; "(devel)" if built from a directory
	Revision string `json:"revision"` // commit; empty if unknown
	Modified bool   `json:"modified"` // whether the directory had uncommitted changes
	Go       string `json:"go"`       // release of Go
}

// readBuild returns what the linker and the Go tool recorded in the running binary.
func readBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{Version: "unknown"}
	}
	b := build{Version: info.Main.Version, Go: info.GoVersion}
	if app.Version != "dev" { // set by the linker in a release
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

// Run prints the version of the program and what it was built from.
func (v *versionCmd) Run(c *console) error {
	b := readBuild()
	if v.JSON {
		return printJSON(c.out, b)
	}
	line := "gonebox " + b.Version
	if b.Revision != "" {
		line += " " + b.Revision[:min(len(b.Revision), 12)]
	}
	if b.Modified {
		line += " with uncommitted changes"
	}
	_, err := fmt.Fprintf(c.out, "%s, %s\n", line, b.Go)
	return err
}
