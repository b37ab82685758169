package app_test

import (
	"bytes"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app"
	"github.com/gonebox/gonebox/internal/config"
)

// Missing keys are a warning once a part of the bank is configured, and not otherwise.
func TestMissingBankKeysAreLoggedAtStart(t *testing.T) {
	whole := map[string]string{
		"billing.bankpay.apikey": "s3cret", "billing.bankpay.allow_networks": "192.0.2.0/24", "billing.bankpay.bank_bin": "970436", "billing.bankpay.account_number": "1",
	}
	for name, c := range map[string]struct {
		set  map[string]string
		want string
	}{
		"nothing":      {nil, ""},
		"everything":   {whole, ""},
		"no callback":  {map[string]string{"billing.bankpay.bank_bin": "970436", "billing.bankpay.account_number": "1"}, "[billing.bankpay.apikey]"},
		"a name alone": {map[string]string{"billing.bankpay.bank_name": "VCB"}, "[billing.bankpay.apikey billing.bankpay.bank_bin billing.bankpay.account_number]"},
		"switched off": {map[string]string{"billing.bankpay.bank_name": "VCB", "billing.providers.bankpay": "disabled"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := map[string]string{"http.addr": "127.0.0.1:0", "smtp.addr": "127.0.0.1:0", "data_dir": t.TempDir(), "dns.resolver": "127.0.0.1:1"}
			maps.Copy(set, c.set)
			cfg, err := config.Load("", nil, set)
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			a, err := app.New(t.Context(), cfg, app.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			warned := strings.Contains(log.String(), "bank transfers are shown as disabled")
			if warned != (c.want != "") || !strings.Contains(log.String(), c.want) || strings.Contains(log.String(), "s3cret") {
				t.Errorf("the log is\n%s\nwant a warning with %q, none if that is empty, and no secret", log.String(), c.want)
			}
		})
	}
}
