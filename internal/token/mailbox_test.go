package token_test

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
	"pgregory.net/rapid"
)

var (
	first  = token.Key{ID: 1, Secret: [32]byte{1, 2, 3}}
	second = token.Key{ID: 2, Secret: [32]byte{4, 5, 6}}
)

func keyring(t testing.TB, current token.Key, old ...token.Key) *token.Keyring {
	t.Helper()
	k, err := token.NewKeyring(current, old...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// claims have whole seconds, so that a round trip preserves them.
func claims(t *rapid.T) token.MailboxClaims {
	return token.MailboxClaims{
		Developer: rapid.StringMatching("([0-9a-z]{10})?").Draw(t, "developer"),
		Mailbox:   id.FromBytes[id.Mailbox]([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "mailbox"))),
		Epoch:     rapid.Uint32().Draw(t, "epoch"),
		ExpiresAt: time.Unix(int64(rapid.Uint32().Draw(t, "expiry")), 0).UTC(),
	}
}

func sample() token.MailboxClaims {
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	return token.MailboxClaims{Mailbox: id.New[id.Mailbox](at), Epoch: 3, ExpiresAt: at.Add(time.Hour)}
}

// keyed is sample with a developer key.
func keyed() token.MailboxClaims {
	m := sample()
	m.Developer = "0123456789"
	return m
}

func TestMailboxTokenHasItsClaims(t *testing.T) {
	k := keyring(t, first)
	rapid.Check(t, func(t *rapid.T) {
		want := claims(t)
		text := k.MintMailbox(want)
		length := 59
		if want.Developer != "" {
			length = 75
		}
		if len(text) != length || !strings.HasPrefix(text, "xm_") {
			t.Fatalf("the token is %q with %d characters, want %d that begin with xm_", text, len(text), length)
		}
		if got, err := k.CheckMailbox(text); err != nil || got != want {
			t.Fatalf("CheckMailbox = %+v, %v; want %+v", got, err, want)
		}
	})
}

func TestMailboxTokenExpiresNoLaterThanGiven(t *testing.T) {
	k := keyring(t, first)
	last := time.Unix(math.MaxUint32, 0)
	for given, want := range map[time.Time]time.Time{
		time.Unix(1_800_000_000, 999_999_999):                      time.Unix(1_800_000_000, 0),
		last.Add(time.Hour):                                        last,
		time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC):                last,
		time.Unix(-5, 0):                                           time.Unix(0, 0),
		time.Unix(1_800_000_000, 0).In(time.FixedZone("", 7*3600)): time.Unix(1_800_000_000, 0),
	} {
		m := sample()
		m.ExpiresAt = given
		got, err := k.CheckMailbox(k.MintMailbox(m))
		if err != nil || !got.ExpiresAt.Equal(want) || got.ExpiresAt.Location() != time.UTC {
			t.Errorf("given %v: %v, %v; want %v", given, got.ExpiresAt, err, want)
		}
	}
}

func TestFlippedBitIsRejected(t *testing.T) {
	for _, m := range []token.MailboxClaims{sample(), keyed()} {
		refusesFlipped(t, keyring(t, first, second), m)
	}
}

func refusesFlipped(t *testing.T, k *token.Keyring, m token.MailboxClaims) {
	t.Helper()
	good := k.MintMailbox(m)
	raw, err := base64.RawURLEncoding.DecodeString(good[3:])
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(raw) {
		raw[bit/8] ^= 1 << (bit % 8)
		refuses(t, k, "xm_"+base64.RawURLEncoding.EncodeToString(raw))
		raw[bit/8] ^= 1 << (bit % 8)
	}
	for bit := range 8 * len(good) {
		text := []byte(good)
		text[bit/8] ^= 1 << (bit % 8)
		refuses(t, k, string(text))
	}
}

func TestMalformedMailboxTokenIsRejected(t *testing.T) {
	k := keyring(t, first)
	good := k.MintMailbox(sample())
	for _, bad := range []string{
		"", "xm_", good[:58], good + "A", good + "=", " " + good, good + "\n", good[:20] + "\n" + good[20:58], good[:20] + "\r\n" + good[22:],
		"xu_" + good[3:], strings.ToUpper(good), strings.Repeat("A", 59), "xm_" + strings.Repeat("A", 1<<20),
	} {
		refuses(t, k, bad)
	}
	long := k.MintMailbox(keyed())
	for _, bad := range []string{
		long[:59], long[:74], long + "A", good[:59] + long[59:], long[:20] + "\n" + long[20:74], "xm_" + strings.Repeat("A", 72),
		"xm_Ag" + good[5:], "xm_AQ" + long[5:], // each with the other's version
	} {
		refuses(t, k, bad)
	}
}

func refuses(t testing.TB, k *token.Keyring, text string) {
	t.Helper()
	if got, err := k.CheckMailbox(text); !problem.Has(err, problem.AuthInvalidToken) || got != (token.MailboxClaims{}) {
		t.Errorf("CheckMailbox(%.80q) = %+v, %v, want the problem %v and %v", text, got, err, problem.AuthInvalidToken, token.MailboxClaims{})
	}
}

func TestTokensStayValidAfterKeyRotation(t *testing.T) {
	before, during, after := keyring(t, first), keyring(t, second, first), keyring(t, second)
	old, fresh := before.MintMailbox(sample()), during.MintMailbox(sample())
	if _, err := during.CheckMailbox(old); err != nil {
		t.Errorf("the old key's token is refused while both keys are known: %v", err)
	}
	if _, err := after.CheckMailbox(fresh); err != nil {
		t.Errorf("the new key did not sign: %v", err)
	}
	refuses(t, after, old)
	refuses(t, before, fresh)
	same := token.Key{ID: first.ID, Secret: second.Secret} // same id, other secret
	refuses(t, keyring(t, same), old)
	if _, err := keyring(t, same, first).CheckMailbox(old); err != nil {
		t.Errorf("the second key of an id is not tried: %v", err)
	}
	if err := before.Replace(same, first); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{old, before.MintMailbox(sample())} {
		if _, err := before.CheckMailbox(token); err != nil {
			t.Errorf("after Replace: %v", err)
		}
	}
	refuses(t, keyring(t, first), before.MintMailbox(sample()))
}

func TestNewKeyringRejectsInvalidKeys(t *testing.T) {
	for name, keys := range map[string][]token.Key{
		"no secret":  {{ID: 1}},
		"an old one": {first, {ID: 2}},
	} {
		if _, err := token.NewKeyring(keys[0], keys[1:]...); err == nil {
			t.Errorf("%s: NewKeyring took it, want an error", name)
		}
	}
}

func FuzzCheckMailbox(f *testing.F) {
	k := keyring(f, first)
	f.Add(k.MintMailbox(sample()))
	f.Add(k.MintMailbox(keyed()))
	f.Add("xm_")
	f.Add("xm_" + strings.Repeat("A", 56))
	f.Fuzz(func(t *testing.T, text string) {
		got, err := k.CheckMailbox(text)
		if err == nil && k.MintMailbox(got) != text {
			t.Errorf("CheckMailbox(%q) = %+v, want an error, since that is minted as another text", text, got)
		}
	})
}

func BenchmarkMintMailbox(b *testing.B) {
	k, m := keyring(b, first), sample()
	b.ReportAllocs()
	for b.Loop() {
		k.MintMailbox(m)
	}
}

func BenchmarkCheckMailbox(b *testing.B) {
	k := keyring(b, first)
	text := k.MintMailbox(sample())
	b.ReportAllocs()
	for b.Loop() {
		k.CheckMailbox(text)
	}
}
