package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// envPrefix begins the name of every environment variable of the service; fileSuffix ends those that name a file
// which holds a secret.
const (
	envPrefix  = "GONEBOX_"
	fileSuffix = "_FILE"
)

// commandLineOrigin is the origin of what the command line overrides.
const commandLineOrigin = "command line"

// environment applies the variables of environ that begin with GONEBOX_, in the order of their names. Of a name that
// comes twice the last counts, as it does for the processes Go starts.
func (l *loader) environment(environ []string) {
	given := map[string]string{}
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, envPrefix) {
			given[name] = value
		}
	}
	known := l.variables()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		s, ok := known[name]
		switch {
		case !ok:
			l.unknown(name, "environment", "variable", slices.Collect(maps.Keys(known)))
		case name == s.env():
			l.set(s, given[name], name)
		case given[s.env()] != "":
			l.reject(s, given[name], name, fmt.Errorf("is given beside %s; keep one of them", s.env()))
		default:
			l.secretFile(s, given[name], name)
		}
	}
}

// variables maps the names of all variables, those for files included, to their settings.
func (l *loader) variables() map[string]*setting {
	known := map[string]*setting{}
	for _, s := range l.table.settings {
		known[s.env()] = s
		if s.secret() {
			known[s.env()+fileSuffix] = s
		}
	}
	return known
}

// secretFile sets a secret from a file, whose last line break is not part of it.
func (l *loader) secretFile(s *setting, path, origin string) {
	data, err := os.ReadFile(path)
	if err != nil {
		s.failed = true
		l.fail(&Error{Key: s.key, Origin: origin, Value: shown(path), Reason: fmt.Sprintf("the file with the secret cannot be read: %v", err)})
		return
	}
	l.set(s, strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), origin)
}

// commandLine applies the overrides in the order of their keys.
func (l *loader) commandLine(overrides map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(overrides)) {
		if s, ok := l.table.byKey[key]; ok {
			l.set(s, overrides[key], commandLineOrigin)
		} else {
			l.unknown(key, commandLineOrigin, "key", slices.Collect(maps.Keys(l.table.byKey)))
		}
	}
}
