package config

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// setting is one key of the configuration: what its tags say, and the place in a Config where its value lies.
type setting struct {
	key, help string
	def       string   // the default, as text
	zero      string   // what zero means; empty: zero is refused
	max       int64    // the largest number; 0: no bound
	oneOf     []string // the only values; empty: any
	value     reflect.Value

	origin string // where the value came from, empty for the default
	failed bool   // an error has been reported for it
}

// table lists the settings of a Config in the order of its fields, and what each section is about.
type table struct {
	settings []*setting
	byKey    map[string]*setting
	sections map[string]string
}

// newTable walks c, whose plans must be complete: the settings point into it.
func newTable(c *Config) *table {
	t := &table{byKey: map[string]*setting{}, sections: map[string]string{}}
	t.walk(reflect.ValueOf(c).Elem(), "")
	return t
}

func (t *table) walk(section reflect.Value, prefix string) {
	for i := range section.NumField() {
		field, value := section.Type().Field(i), section.Field(i)
		key := prefix + field.Tag.Get("key")
		switch plans, isPlans := value.Interface().([]plan.Plan); {
		case isPlans:
			t.sections[key] = field.Tag.Get("help")
			for j := range plans {
				t.sections[key+"."+plans[j].Code] = ""
				t.walk(value.Index(j), key+"."+plans[j].Code+".")
			}
		case field.Tag.Get("key") == "" && value.Kind() == reflect.Struct:
			t.walk(value, prefix)
		case value.Kind() == reflect.Struct:
			t.sections[key] = field.Tag.Get("help")
			t.walk(value, key+".")
		case field.Tag.Get("key") != "":
			t.add(newSetting(key, field.Tag, value))
		}
	}
}

// add files s, and the sections that only its dotted key names (plans.free.mailbox.ttl).
func (t *table) add(s *setting) {
	t.settings = append(t.settings, s)
	t.byKey[s.key] = s
	for i, r := range s.key {
		if _, known := t.sections[s.key[:i]]; r == '.' && !known {
			t.sections[s.key[:i]] = ""
		}
	}
}

func newSetting(key string, tag reflect.StructTag, value reflect.Value) *setting {
	s := &setting{
		key: key, help: tag.Get("help"), def: tag.Get("default"), zero: tag.Get("zero"),
		oneOf: strings.Fields(tag.Get("oneof")), value: value,
	}
	s.max, _ = strconv.ParseInt(tag.Get("max"), 10, 64)
	if _, has := tag.Lookup("default"); !has {
		s.def = s.text()
	}
	return s
}

// env is the name of the setting's environment variable.
func (s *setting) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

func (s *setting) secret() bool { return s.value.Type() == reflect.TypeFor[Secret]() }

// list says whether the value is a list. A rate is one text, although it may hold several windows.
func (s *setting) list() bool {
	return s.value.Kind() == reflect.Slice && s.value.Type() != reflect.TypeFor[ratelimit.Limit]()
}

// text is the value as one line; the elements of a list are joined by commas. A secret is masked.
func (s *setting) text() string { return strings.Join(s.items(), ", ") }

// items is the value as texts: one, or those of a list.
func (s *setting) items() []string {
	if !s.list() {
		return []string{scalarText(s.value.Interface())}
	}
	items := make([]string, s.value.Len())
	for i := range items {
		items[i] = scalarText(s.value.Index(i).Interface())
	}
	return items
}

// setText sets the value from one line of text; the elements of a list are parted by commas.
func (s *setting) setText(text string) error {
	if !s.list() {
		return s.setItem(s.value, text)
	}
	if strings.TrimSpace(text) == "" {
		return s.setList(nil)
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return s.setList(items)
}

// setList sets a list, keeping the old one on an error.
func (s *setting) setList(items []string) error {
	list := reflect.MakeSlice(s.value.Type(), len(items), len(items))
	for i, text := range items {
		if err := s.setItem(list.Index(i), text); err != nil {
			return fmt.Errorf("%s %w", shown(text), err)
		}
		if slices.Contains(items[:i], text) && list.Index(i).Kind() == reflect.String {
			return fmt.Errorf("%s comes twice", shown(text))
		}
	}
	s.value.Set(list)
	return nil
}

// setItem sets one scalar, keeping its old value on an error.
func (s *setting) setItem(to reflect.Value, text string) error {
	value := reflect.New(to.Type())
	if err := parseScalar(value.Interface(), text); err != nil {
		return err
	}
	if err := s.bounds(value.Elem(), text); err != nil {
		return err
	}
	to.Set(value.Elem())
	return nil
}

func (s *setting) bounds(v reflect.Value, text string) error {
	if len(s.oneOf) > 0 && !slices.Contains(s.oneOf, text) {
		return fmt.Errorf("is none of %s", strings.Join(s.oneOf, ", "))
	}
	if !v.CanInt() || v.Type() == reflect.TypeFor[slog.Level]() {
		return nil
	}
	switch n := v.Int(); {
	case n < 0:
		return errors.New("must not be below zero")
	case n == 0 && s.zero == "":
		return errors.New("must be above zero")
	case s.max > 0 && n > s.max:
		return fmt.Errorf("must be at most %d", s.max)
	}
	return nil
}
