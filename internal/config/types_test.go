package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/gonebox/gonebox/internal/config"
)

func TestSecretIsNeverPrinted(t *testing.T) {
	type holder struct{ S config.Secret }
	h := holder{"hunter2"}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "s", h.S, "h", h)
	asJSON, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Dump(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(h), fmt.Sprintf("%s %v %+v %#v %q %x", h, h, h, h, h, h.S), log.String(), string(asJSON), string(asYAML),
	} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", "hunter2")) || !strings.Contains(text, "***") {
			t.Errorf("a secret is printed as %s, want *** in place of it", text)
		}
	}
	if config.Secret("").String() != "" {
		t.Error("an empty secret is printed as a mask")
	}
}

func TestSizeParsesAndPrints(t *testing.T) {
	for text, want := range map[string]config.Size{
		"25MiB": 25 << 20, "1 KiB": 1 << 10, "1024KiB": 1 << 20, "7B": 7, "7": 7, "0": 0, "3GiB": 3 << 30, "8388607TiB": 8388607 << 40,
	} {
		got, err := config.ParseSize(text)
		if err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", text, got, err, want)
		}
		if again, err := config.ParseSize(got.String()); err != nil || again != got {
			t.Errorf("ParseSize(%s) prints as %s, which parses to %v, %v, want the same size", text, got, again, err)
		}
	}
	for _, text := range []string{"", "MiB", "1MB", "1.5MiB", "1kib", "8388608TiB", "99999999999999999999", "0x10", "1 2"} {
		if got, err := config.ParseSize(text); err == nil {
			t.Errorf("%q is %d, want an error", text, got)
		}
	}
}
