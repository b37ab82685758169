package mailbox_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
)

// createWithoutDomain returns the error of creating a mailbox in a service that has no domain: errNoDomain if the name may be chosen.
func createWithoutDomain(t *testing.T, local string) error {
	s := newWithoutDomain("Big.Boss")
	_, err := s.Create(t.Context(), mailbox.CreateParams{LocalPart: local}, mailbox.Owner{})
	return err
}

func TestReservedNames(t *testing.T) {
	for _, local := range []string{
		"admin", "administrator", "webmaster", "hostmaster", "postmaster", // CA/Browser Forum
		"info", "marketing", "sales", "support", "abuse", "noc", "security", "usenet", "news", "www", "uucp", "ftp", // RFC 2142
		"ssladmin", "sysadmin", "billing", "no-reply", "noreply", "no.reply", "no_reply", "dmarc", "mailerdaemon", "mailer-daemon", "is", "it", "mis", "root",
		"post-master", "web.master", "host_master", "ad-min", "administrator-", "a.d.m.i.n", "ssl-administrator", "ssl.webmaster", "security-team", "dmarc-reports", "tls-rpt",
		"adm1n", "adm1n1strator", "p0stmaster", "h0stma5ter", "webrnaster", "vvebmaster", "4dmin", "supp0rt", "b1ll1ng", "administator", "postmastr",
		"b111ing", "bi1l1ng", "b1-1l1ng", "emai1adm1n", "ma1lma5ter", "leg4l", "ma11", "1nfo", "inf0", "r00t", "nu11", "he1p", "ma1l", "s4les",
		"bigboss", "big-boss", "b1gb0ss",
	} {
		if err := createWithoutDomain(t, local); !problem.Has(err, problem.MailboxLocalPartReserved) {
			t.Errorf("Create with local part %q: error %v, want %s", local, err, problem.MailboxLocalPartReserved)
		}
	}
}

func TestNamesThatMayBeChosen(t *testing.T) {
	for _, local := range []string{
		"ada", "bob-4821", "quiet-otter-4821", "test", "test1", "user", "user.name", "signup", "demo", "badminton", "adminton", "infonet", "itsme", "isis", "isa", "kit",
		"marketa", "newsie", "bill", "mark", "roota", "1t", "1s", "a", "0", "order-482913", "e2e", "support-1234", "barn", "ivy", "info1", "root2",
		"1111", "11111", "0000", "l1l1", "b111", "corn", "arne", "a1ice", "m1nt", "he11o", "h1", "mi5", "mail-2024",
	} {
		if err := createWithoutDomain(t, local); !errors.Is(err, errNoDomain) {
			t.Errorf("Create with local part %q: error %v, want that of choosing a domain, since the name may be chosen", local, err)
		}
	}
}

func TestDotsStandBetweenOtherCharacters(t *testing.T) {
	for _, local := range []string{"hostmaster.", "ada.", "ada..bob", ".ada", "a.b..", ".", "..", "ada.b.", "ada\n", "-ada", "_ada"} {
		if err := createWithoutDomain(t, local); !problem.Has(err, problem.RequestInvalid) {
			t.Errorf("Create with local part %q: error %v, want %s", local, err, problem.RequestInvalid)
		}
	}
	for _, local := range []string{"a.b", "a.b.c", "a-.b", "a-", "a_", "a.-b"} {
		if err := createWithoutDomain(t, local); !errors.Is(err, errNoDomain) {
			t.Errorf("Create with local part %q: error %v, want that of choosing a domain, since the name may be chosen", local, err)
		}
	}
}

// A generated name never looks like a reserved one.
func TestGeneratedNamesAreNotReserved(t *testing.T) {
	for range 2000 {
		name := mailbox.Generated(0)
		if err := createWithoutDomain(t, name); !errors.Is(err, errNoDomain) {
			t.Fatalf("Create with the generated local part %q: error %v, want the error %v", name, err, errNoDomain)
		}
	}
}

// What was taken before it was reserved ends, on public domains alone.
func TestReservedMailboxesEnd(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.limits.LiveMax = 100
		tokens := make(map[string]string)
		rename := map[string]string{"a1": "administrator", "a2": "no-reply", "a3": "dotted.", "a4": "web.m4ster", "a5": "kept", "a6": "info", "a7": "support"}
		for first, name := range rename {
			m, token := f.create(t, first, mailbox.Owner{})
			tokens[first] = token
			domain, private, source := "example.org", "", "guest"
			switch first {
			case "a6":
				domain, private = "shop.dev", "dom_x"
			case "a7":
				source = "sink"
			}
			f.execAsOther(t, "UPDATE mailbox SET local_part = $1, address = $2, domain = $3, domain_id = nullif($4, ''), source = $5 WHERE id = $6",
				name, name+"@"+domain, domain, private, source, m.ID)
		}
		f.clock.Advance(time.Second)
		got, err := f.EndReserved(t.Context(), []string{"example.org"})
		slices.Sort(got)
		want := []string{"administrator@example.org", "dotted.@example.org", "no-reply@example.org", "web.m4ster@example.org"}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("EndReserved = %q, %v, want %q", got, err, want)
		}
		for first, token := range tokens {
			code := problem.AuthInvalidToken
			if slices.Contains([]string{"kept", "info", "support"}, rename[first]) {
				code = ""
			}
			refused(t, "the token of "+rename[first], f.open(t, token), code)
		}
		if again, err := f.EndReserved(t.Context(), []string{"example.org"}); len(again) != 0 || err != nil {
			t.Errorf("EndReserved once more = %q, %v, want nothing", again, err)
		}
	})
}
