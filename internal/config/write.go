package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// WriteYAML writes the effective configuration in the form that Load reads, with every key's comment above
// it if asked for. Secrets are masked, and a masked one is refused when it is read again.
func (c *Config) WriteYAML(w io.Writer, comments bool) error {
	var out bytes.Buffer
	t, open := newTable(c), []string(nil)
	for _, s := range t.settings {
		path := strings.Split(s.key, ".")
		section := path[:len(path)-1]
		shared := common(open, section)
		for depth := shared; depth < len(section); depth++ {
			if depth == 0 {
				out.WriteByte('\n')
			}
			writeLine(&out, depth, section[depth]+":", t.sections[strings.Join(section[:depth+1], ".")], comments)
		}
		writeLine(&out, len(section), path[len(section)]+": "+s.yaml(), s.help, comments)
		open = section
	}
	_, err := w.Write(out.Bytes())
	return err
}

// WriteJSON writes the same as WriteYAML as one JSON object.
func (c *Config) WriteJSON(w io.Writer) error {
	var text bytes.Buffer
	if err := c.WriteYAML(&text, false); err != nil {
		return err
	}
	var tree map[string]any
	if err := yaml.Load(text.Bytes(), &tree); err != nil {
		return fmt.Errorf("printed configuration: %w", err)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(tree)
}

// common counts the leading elements that a and b share.
func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func writeLine(out *bytes.Buffer, depth int, line, comment string, comments bool) {
	indent := strings.Repeat("  ", depth)
	if comments && comment != "" {
		fmt.Fprintf(out, "%s# %s\n", indent, comment)
	}
	fmt.Fprintf(out, "%s%s\n", indent, line)
}

// yaml is the value as a YAML scalar or flow list.
func (s *setting) yaml() string {
	items := s.items()
	for i, item := range items {
		items[i] = s.quoted(item)
	}
	if s.list() {
		return "[" + strings.Join(items, ", ") + "]"
	}
	return items[0]
}

// quoted puts text in quotes unless its type makes that needless. Go's escapes are all YAML's too (YAML 1.2.2 §5.7).
func (s *setting) quoted(item string) string {
	t := s.value.Type()
	if s.list() {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Duration](), reflect.TypeFor[Size](), reflect.TypeFor[slog.Level](),
		reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int64]():
		return item
	}
	if len(s.oneOf) > 0 {
		return item
	}
	return strconv.Quote(item)
}
