package config

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

var update = flag.Bool("update", false, "write the generated documentation")

func TestDocIsUpToDate(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "config.md")
	want := configDoc()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date, want what the settings say: run go test ./internal/config -run TestDocIsUpToDate -update", path)
	}
}

func TestEverySettingHasHelp(t *testing.T) {
	for _, s := range newTable(Default()).settings {
		if s.help() == "" || strings.HasSuffix(s.help(), ".") || kindText(s) == "" {
			t.Errorf("%s: help %q, kind %q, want both, and no full stop after the help", s.key, s.help(), kindText(s))
		}
	}
}

const docIntro = `# Configuration

Generated from the struct tags in internal/config by ` + "`go test ./internal/config -run TestDocIsUpToDate -update`" + `; edits here are lost.

The configuration has four sources, each applied over the one before:

1. the defaults below;
2. a YAML file, given with ` + "`--config FILE`" + `: the dots of a key are levels of the file;
3. environment variables: ` + "`GONEBOX_`" + ` and the key in capitals, with dots as ` + "`_`" + `, so that ` + "`smtp.max_size`" + ` is
   ` + "`GONEBOX_SMTP_MAX_SIZE`" + `. The elements of a list are separated by commas. A secret can be read from a file instead:
   ` + "`GONEBOX_SECRETS_KEY_FILE=/run/secrets/key`" + `. A variable of a secret (` + "`database.url`" + ` is one) that is set and empty, and an empty file
   that one names, are errors: what should have filled them has failed;
4. the command line: ` + "`--set KEY=VALUE`" + ` and the flags that are short for it.

An unknown key, an unknown ` + "`GONEBOX_`" + ` variable or an invalid value stops the start, with one line for each that says where it
is. ` + "`gonebox config`" + ` prints the configuration in effect in the form of the file, with secrets masked. Variables
that Kubernetes sets in containers for a service called gonebox, or gonebox- and more, are passed over: ` + "`GONEBOX_SERVICE_HOST`" + `,
` + "`GONEBOX_SERVICE_PORT`, `GONEBOX_PORT=tcp://…`, `GONEBOX_PORT_8080_TCP`" + ` and the like.

| kind | how it is written |
|---|---|
| duration | ` + "`15s`, `30m`, `1h30m`, `720h`, `30d`" + ` |
| size | ` + "`25MiB`, `512KiB`, `4096B`; B, KiB, MiB, GiB, TiB" + ` |
| rate | ` + "`30/1m`" + `: this many in this time; ` + "`30/1m, 300/24h`" + `: both apply |
| network | ` + "`10.0.0.0/8`, `fd00::/8`" + `, or a single address |

Numbers, durations and sizes must be above zero unless the meaning of zero is given.
`

// configDoc returns docs/config.md.
func configDoc() []byte {
	var out bytes.Buffer
	out.WriteString(docIntro)
	t := newTable(Default())
	heading := "-"
	for _, s := range t.settings {
		section, _, nested := strings.Cut(s.key, ".")
		if !nested {
			section = ""
		}
		if section == "plans" || section == "ingress" {
			break
		}
		if section != heading {
			heading = section
			docHeading(&out, section, t.sections[section])
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", s.key, kindText(s), code(s.def), meaning(s))
	}
	docIngress(&out)
	docPlans(&out, t)
	return out.Bytes()
}

func docHeading(out *bytes.Buffer, section, help string) {
	if section == "" {
		section, help = "General", "the service as a whole"
	}
	fmt.Fprintf(out, "\n## %s\n\n%s.\n\n| key | kind | default | meaning |\n|---|---|---|---|\n", section, sentence(help))
}

// docIngress writes a row for each key of an ingress.
func docIngress(out *bytes.Buffer) {
	t := newLoader(nil, []string{"name"}).table
	fmt.Fprintf(out, "\n## ingress\n\n%s.\nThe keys are `ingress.<name>.<key>`, as in `ingress.mail.kind`. A name has up to 32 lower-case letters, digits and hyphens.\n\n| key | kind | default | meaning |\n|---|---|---|---|\n", sentence(t.sections["ingress"]))
	for _, s := range t.settings {
		if name, ok := strings.CutPrefix(s.key, "ingress.name."); ok {
			fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", name, kindText(s), code(s.def), meaning(s))
		}
	}
}

// docPlans writes a row for each entitlement, with a column for each plan.
func docPlans(out *bytes.Buffer, t *table) {
	plans := Default().Plans
	fmt.Fprintf(out, "\n## plans\n\n%s.\nThe keys are `plans.<code>.<name>`, as in `plans.free.mailboxes.max`.\n\n| name | kind |", sentence(t.sections["plans"]))
	for _, p := range plans {
		fmt.Fprintf(out, " %s |", p.Code)
	}
	fmt.Fprintf(out, " meaning |\n|---|---|%s---|\n", strings.Repeat("---|", len(plans)))
	prefix := "plans." + plans[0].Code + "."
	for _, s := range t.settings {
		name, ok := strings.CutPrefix(s.key, prefix)
		if !ok {
			continue
		}
		fmt.Fprintf(out, "| `%s` | %s |", name, kindText(s))
		for _, p := range plans {
			fmt.Fprintf(out, " %s |", code(t.byKey["plans."+p.Code+"."+name].def))
		}
		fmt.Fprintf(out, " %s |\n", meaning(s))
	}
}

// meaning returns the help text of a setting with the values that it may have.
func meaning(s *setting) string {
	text := s.help()
	if len(s.oneOf) > 0 {
		text += "; one of " + strings.Join(s.oneOf, ", ")
	}
	for _, tag := range []struct{ name, text string }{{"zero", "0: "}, {"min", "at least "}, {"max", "at most "}} {
		if value, ok := s.tag.Lookup(tag.name); ok {
			text += "; " + tag.text + value
		}
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

func code(text string) string {
	if text == "" {
		return "empty"
	}
	return "`" + text + "`"
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func kindText(s *setting) string {
	if s.isList() {
		return "list of " + kindName(s.value.Type().Elem()) + "s"
	}
	return kindName(s.value.Type())
}

func kindName(t reflect.Type) string {
	kinds := map[reflect.Type]string{
		reflect.TypeFor[Secret]():          "secret",
		reflect.TypeFor[Size]():            "size",
		reflect.TypeFor[time.Duration]():   "duration",
		reflect.TypeFor[netip.Prefix]():    "network",
		reflect.TypeFor[ratelimit.Limit](): "rate",
	}
	if name, ok := kinds[t]; ok {
		return name
	}
	switch {
	case t.Kind() == reflect.Bool:
		return "true or false"
	case isNumber(t):
		return "number"
	case t.Kind() == reflect.String || t == reflect.TypeFor[slog.Level]():
		return "text"
	}
	return ""
}
