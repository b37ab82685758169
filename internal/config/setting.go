package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// setting is one key: its tags, and the field of a Config that holds its value.
type setting struct {
	key   string // dotted, from the top: smtp.tls.cert
	tag   reflect.StructTag
	def   string   // the default, as text
	oneOf []string // the only values; empty: any
	value reflect.Value

	origin string // where the value came from; empty: the default
	failed bool   // an error has been reported for it
}

// table lists the settings of a Config in the order of its fields.
type table struct {
	settings []*setting
	byKey    map[string]*setting
	sections map[string]string // dotted name of each section to its help text
}

// newTable returns the settings of c. They point into c, so c.Plans must already contain all plans.
func newTable(c *Config) *table {
	t := &table{byKey: map[string]*setting{}, sections: map[string]string{}}
	t.walk(reflect.ValueOf(c).Elem(), "")
	return t
}

// walk adds the fields of a section, whose keys begin with prefix.
func (t *table) walk(section reflect.Value, prefix string) {
	for i := range section.NumField() {
		value, tag := section.Field(i), section.Type().Field(i).Tag
		name := tag.Get("key")
		key := prefix + name
		plans, isPlans := value.Interface().([]plan.Plan)
		ingresses, isIngresses := value.Interface().([]Ingress)
		switch {
		case isIngresses:
			t.sections[key] = tag.Get("help")
			for j := range ingresses {
				t.sections[key+"."+ingresses[j].Name] = ""
				t.walk(value.Index(j), key+"."+ingresses[j].Name+".")
			}
		case isPlans:
			t.sections[key] = tag.Get("help")
			for j := range plans {
				t.sections[key+"."+plans[j].Code] = ""
				t.walk(value.Index(j), key+"."+plans[j].Code+".")
			}
		case value.Kind() == reflect.Struct && name == "": // embedded in its parent's section
			t.walk(value, prefix)
		case value.Kind() == reflect.Struct:
			t.sections[key] = tag.Get("help")
			t.walk(value, key+".")
		case name != "":
			t.add(key, tag, value)
		}
	}
}

// add adds a setting, and the sections that appear only within its dotted name (plans.free.mailbox.ttl).
func (t *table) add(key string, tag reflect.StructTag, value reflect.Value) {
	s := &setting{key: key, tag: tag, oneOf: strings.Fields(tag.Get("oneof")), value: value}
	def, ok := tag.Lookup("default")
	if !ok { // a plan: its default is the value that the catalogue has
		def = s.text()
	}
	s.def = def
	t.settings = append(t.settings, s)
	t.byKey[key] = s
	for i, r := range key {
		if _, known := t.sections[key[:i]]; r == '.' && !known {
			t.sections[key[:i]] = ""
		}
	}
}

// help returns the phrase that explains the setting.
func (s *setting) help() string { return s.tag.Get("help") }

// env returns the name of the setting's environment variable.
func (s *setting) env() string {
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(s.key))
}

// isSecret reports whether the value must not be printed.
func (s *setting) isSecret() bool { return s.value.Type() == reflect.TypeFor[Secret]() }

// isList reports whether the value is a list. A rate limit is a single text although it may have several windows.
func (s *setting) isList() bool {
	return s.value.Kind() == reflect.Slice && s.value.Type() != reflect.TypeFor[ratelimit.Limit]()
}

// scalarType returns the type of the value, or of its elements if it is a list.
func (s *setting) scalarType() reflect.Type {
	if s.isList() {
		return s.value.Type().Elem()
	}
	return s.value.Type()
}

// text returns the value on one line, elements separated by commas. A secret is masked.
func (s *setting) text() string { return strings.Join(s.items(), ", ") }

// items returns the texts of the value: one, or one for each element of a list.
func (s *setting) items() []string {
	if !s.isList() {
		return []string{scalarText(s.value.Interface())}
	}
	items := make([]string, s.value.Len())
	for i := range items {
		items[i] = scalarText(s.value.Index(i).Interface())
	}
	return items
}

// split splits the one line of a variable or a flag into the elements of a list.
func (s *setting) split(text string) []string {
	if !s.isList() {
		return []string{text}
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

// set parses and checks items and sets the value. On an error the old value stays. The text of the error continues a
// sentence that begins with the value.
func (s *setting) set(items []string) error {
	if s.tag.Get("required") != "" && strings.Join(items, "") == "" {
		return errors.New("must not be empty")
	}
	if !s.isList() {
		v, err := s.parse(items[0])
		if err == nil {
			s.value.Set(v)
		}
		return err
	}
	list := reflect.MakeSlice(s.value.Type(), 0, len(items))
	for i, text := range items {
		v, err := s.parse(text)
		if err != nil {
			return fmt.Errorf("%s %w", quote(text), err)
		}
		if v.Kind() == reflect.String && slices.Contains(items[:i], text) {
			return fmt.Errorf("%s is listed twice", quote(text))
		}
		list = reflect.Append(list, v)
	}
	s.value.Set(list)
	return nil
}

// parse parses and checks one scalar.
func (s *setting) parse(text string) (reflect.Value, error) {
	if len(s.oneOf) > 0 && !slices.Contains(s.oneOf, text) {
		return reflect.Value{}, fmt.Errorf("is none of %s", strings.Join(s.oneOf, ", "))
	}
	v, err := parseScalar(s.scalarType(), text)
	if err == nil && isNumber(v.Type()) {
		err = s.checkBounds(v.Int())
	}
	if form := s.tag.Get("form"); err == nil && form != "" && (text != "" || s.def != "" || s.isList()) {
		err = checkForm(form, text) // an empty text is allowed if the default is empty
	}
	return v, err
}

// checkBounds checks a number against the tags min, max and zero; without zero it must be above zero.
func (s *setting) checkBounds(n int64) error {
	_, zero := s.tag.Lookup("zero")
	switch {
	case n < 0:
		return errors.New("must not be below zero")
	case n == 0 && !zero:
		return errors.New("must be above zero")
	}
	if least, ok := s.bound("min"); ok && n < least && n != 0 {
		return errors.New("must be at least " + s.tag.Get("min"))
	}
	if most, ok := s.bound("max"); ok && n > most {
		return errors.New("must be at most " + s.tag.Get("max"))
	}
	return nil
}

// bound returns the number in the tag min or max.
func (s *setting) bound(name string) (n int64, ok bool) {
	text, ok := s.tag.Lookup(name)
	if !ok {
		return 0, false
	}
	v, err := parseScalar(s.scalarType(), text)
	if err != nil {
		panic(fmt.Sprintf("%s: tag %s: %v", s.key, name, err))
	}
	return v.Int(), true
}
