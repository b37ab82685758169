package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/gonebox/gonebox/internal/plan"
)

// Environment variables are named after their key. With fileSuffix appended, the variable of a secret names a file that
// holds the secret.
const (
	envPrefix  = "GONEBOX_"
	fileSuffix = "_FILE"
)

// FileVariable is the environment variable that names the configuration file where no flag does.
const FileVariable = envPrefix + "CONFIG"

// otherVariables are the variables that begin with GONEBOX_ and are not keys: FileVariable, and those of the commands and
// client libraries that use a service over HTTP.
var otherVariables = []string{FileVariable, envPrefix + "URL", envPrefix + "KEY", envPrefix + "BIN", envPrefix + "BINARY", envPrefix + "SMTP"}

// emptyVariable is the reason why a variable that is set and empty is refused. The template or the secret store that should have filled it
// has failed, and with the default in its place the service would run on a new database or with a new secret.
const emptyVariable = "the variable is set and empty; give it a value, or unset it"

// fromCommandLine is the origin of what the command line sets.
const fromCommandLine = "command line"

// loader applies the sources to a Config, one after the other, and collects the errors.
type loader struct {
	*table
	config *Config
	errs   []error
}

// configFile returns the value of FileVariable in environ, and "" if it is not set. If it occurs more than once, the last one counts.
func configFile(environ []string) (path string, err error) {
	isSet := false
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); name == FileVariable {
			path, isSet = value, true
		}
	}
	if isSet && strings.TrimSpace(path) == "" {
		return "", &Error{Origin: FileVariable, Reason: emptyVariable}
	}
	return path, nil
}

// newLoader returns a loader whose Config has the defaults. root is the parsed file, from which the plans that it adds are
// created; it may be nil. ingresses are the names of the ingresses that the sources configure.
func newLoader(root *yaml.Node, ingresses []string) *loader {
	catalogue := plan.Default()
	c := &Config{Plans: append([]plan.Plan{catalogue.Guest()}, catalogue.All()...)}
	for _, code := range addedPlans(root, c.Plans) {
		added := catalogue.Free()
		added.Code, added.Name = code, code
		c.Plans = append(c.Plans, added)
	}
	for _, name := range ingresses {
		c.Ingress = append(c.Ingress, Ingress{Name: name})
	}
	l := &loader{config: c, table: newTable(c)}
	for _, s := range l.settings {
		l.apply(s, s.split(s.def), s.def, "")
	}
	return l
}

// addError records an error; loading continues, so that one run reports all errors.
func (l *loader) addError(e *Error) { l.errs = append(l.errs, e) }

// apply sets s to items, or records an error if they are invalid. written is the value as it stands in its source, and
// origin names the source; both are for errors.
func (l *loader) apply(s *setting, items []string, written, origin string) {
	if err := s.set(items); err != nil {
		l.reject(s, written, origin, err.Error())
		return
	}
	s.origin = origin
}

// reject records the error that written cannot be the value of s.
func (l *loader) reject(s *setting, written, origin, reason string) {
	if s.isSecret() {
		written = Secret(written).String()
	}
	s.failed = true
	l.addError(&Error{Key: s.key, Value: quote(written), Origin: origin, Reason: reason})
}

// applyEnvironment applies the variables in environ that begin with GONEBOX_, except those that Kubernetes sets, in the order of
// their names. The last of several with the same name counts, as in os/exec.
func (l *loader) applyEnvironment(environ []string) {
	given := map[string]string{}
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, envPrefix) && !slices.Contains(otherVariables, name) && !isServiceLink(name, value) {
			given[name] = value
		}
	}
	known := map[string]*setting{}
	for _, s := range l.settings {
		known[s.env()] = s
		if s.isSecret() {
			known[s.env()+fileSuffix] = s
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch s, ok := known[name]; {
		case !ok:
			l.addError(unknownVariable(name, slices.Collect(maps.Keys(known))))
		case s.isSecret() && strings.TrimSpace(given[name]) == "":
			l.reject(s, "", name, emptyVariable)
		case name == s.env():
			l.apply(s, s.split(given[name]), given[name], name)
		case given[s.env()] != "":
			l.reject(s, given[name], name, fmt.Sprintf("is given beside %s; keep one of them", s.env()))
		default:
			l.secretFile(s, given[name], name)
		}
	}
}

// secretFile sets a secret from the file at path. A line break at its end is not part of it.
func (l *loader) secretFile(s *setting, path, origin string) {
	data, err := os.ReadFile(path)
	if err != nil {
		s.failed = true
		l.addError(&Error{Key: s.key, Value: quote(path), Origin: origin, Reason: fmt.Sprintf("the file with the secret cannot be read: %v", err)})
		return
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if strings.TrimSpace(text) == "" {
		s.failed = true
		l.addError(&Error{Key: s.key, Value: quote(path), Origin: origin, Reason: "the file with the secret is empty; write the secret into it, or unset the variable"})
		return
	}
	l.apply(s, []string{text}, text, origin)
}

// applyCommandLine applies overrides in the order of their keys.
func (l *loader) applyCommandLine(overrides map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(overrides)) {
		if s, ok := l.byKey[key]; ok {
			l.apply(s, s.split(overrides[key]), overrides[key], fromCommandLine)
		} else {
			l.addError(unknownKey(key, fromCommandLine, slices.Collect(maps.Keys(l.byKey))))
		}
	}
}
