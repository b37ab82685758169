package config

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

// WriteYAML writes the configuration in effect in the form that Load reads, optionally with the help text of each key as a
// comment. Secrets are masked, and Load refuses a masked one.
func (c *Config) WriteYAML(w io.Writer, comments bool) error {
	var out strings.Builder
	line := func(depth int, text, comment string) {
		indent := strings.Repeat("  ", depth)
		if comments && comment != "" {
			fmt.Fprintf(&out, "%s# %s\n", indent, comment)
		}
		fmt.Fprintf(&out, "%s%s\n", indent, text)
	}
	t, open := newTable(c), []string(nil) // open is the path of the section being written
	for _, s := range t.settings {
		path := strings.Split(s.key, ".")
		section, name := path[:len(path)-1], path[len(path)-1]
		for depth := sharedPrefix(open, section); depth < len(section); depth++ {
			if depth == 0 {
				out.WriteByte('\n')
			}
			line(depth, section[depth]+":", t.sections[strings.Join(section[:depth+1], ".")])
		}
		line(len(section), name+": "+s.yaml(), s.help())
		open = section
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// WriteJSON writes what WriteYAML writes as one JSON object.
func (c *Config) WriteJSON(w io.Writer) error {
	var text strings.Builder
	if err := c.WriteYAML(&text, false); err != nil {
		return err
	}
	var tree map[string]any
	if err := yaml.Load([]byte(text.String()), &tree); err != nil {
		return fmt.Errorf("printed configuration: %w", err)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(tree)
}

// sharedPrefix returns the number of leading elements that a and b have in common.
func sharedPrefix(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// yaml returns the value as a YAML scalar or flow list. Text is quoted: Go's escapes are all YAML's too (YAML 1.2.2 §5.7).
func (s *setting) yaml() string {
	items := s.items()
	text := s.scalarType().Kind() == reflect.String || s.scalarType() == reflect.TypeFor[netip.Prefix]() || s.scalarType() == reflect.TypeFor[ratelimit.Limit]()
	for i := range items {
		if text && len(s.oneOf) == 0 {
			items[i] = strconv.Quote(items[i])
		}
	}
	if s.isList() {
		return "[" + strings.Join(items, ", ") + "]"
	}
	return items[0]
}
