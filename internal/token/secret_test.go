package token_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
	"pgregory.net/rapid"
)

func TestSecretIsParsedToItsHash(t *testing.T) {
	for _, k := range []token.Kind{token.User, token.Guest} {
		text, hash := token.MintSecret(k)
		if !strings.HasPrefix(text, string(k)) || len(text) != len(k)+43+6 {
			t.Errorf("MintSecret(%s) = %q, want %d characters that begin with it", k, text, len(k)+43+6)
		}
		if hash != sha256.Sum256([]byte(text)) {
			t.Errorf("MintSecret(%s) returned the hash %x, want the SHA-256 of the secret", k, hash)
		}
		kind, parsed, err := token.ParseSecret(text)
		if err != nil || kind != k || parsed != hash {
			t.Errorf("ParseSecret(%q) = %q, %x, %v, want %v and %v", text, kind, parsed, err, k, hash)
		}
		if again, _ := token.MintSecret(k); again == text {
			t.Errorf("MintSecret(%s) returned the same secret twice, want another", k)
		}
	}
}

func TestDeveloperKeyIsParsedToItsPrefix(t *testing.T) {
	text, prefix, hash := token.MintDeveloper()
	if len(prefix) != 10 || !strings.HasPrefix(text, "x_"+prefix+"_") {
		t.Errorf("MintDeveloper = %q with the prefix %q, want 10 characters that the key begins with behind x_", text, prefix)
	}
	gotPrefix, gotHash, err := token.ParseDeveloper(text)
	if err != nil || gotPrefix != prefix || gotHash != hash {
		t.Errorf("ParseDeveloper(%q) = %q, %x, %v, want %v and %v", text, gotPrefix, gotHash, err, prefix, hash)
	}
	kind, gotHash, err := token.ParseSecret(text)
	if err != nil || kind != token.Developer || gotHash != hash {
		t.Errorf("ParseSecret(%q) = %q, %x, %v, want %v and %v", text, kind, gotHash, err, token.Developer, hash)
	}
}

// A CRC-32 detects every error within 32 bits: every single wrong, swapped or missing character.
func TestMistypedSecretIsRejected(t *testing.T) {
	developer, _, _ := token.MintDeveloper()
	user, _ := token.MintSecret(token.User)
	for _, good := range []string{developer, user} {
		rapid.Check(t, func(t *rapid.T) {
			bad := []byte(good)
			i := rapid.IntRange(0, len(bad)-1).Draw(t, "at")
			switch rapid.SampledFrom([]string{"bit", "swap", "drop", "double"}).Draw(t, "mistake") {
			case "bit":
				bad[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			case "swap":
				j := min(i+1, len(bad)-1)
				bad[i], bad[j] = bad[j], bad[i]
			case "drop":
				bad = append(bad[:i:i], bad[i+1:]...)
			case "double":
				bad = append(bad[:i+1:i+1], bad[i:]...)
			}
			if kind, _, err := token.ParseSecret(string(bad)); string(bad) != good && !problem.Has(err, problem.AuthInvalidToken) {
				t.Fatalf("ParseSecret(%q) = %q, %v, want the problem %v", bad, kind, err, problem.AuthInvalidToken)
			}
		})
	}
}

func TestParseSecretRejectsMalformedCredentials(t *testing.T) {
	mailboxKind, _ := token.MintSecret(token.Mailbox)
	bareDeveloper, _ := token.MintSecret(token.Developer)
	otherKind, _ := token.MintSecret("pk_")
	user, _ := token.MintSecret(token.User)
	for _, bad := range []string{
		"", "x", "x_", "xu_", "xg_", "xm_", "x__", mailboxKind, bareDeveloper, otherKind, strings.TrimPrefix(user, "xu_"), "xg_" + user[3:],
		user + "\x00", "x_0123456789_", "x_0123456789", "x_01234é6789_" + user[3:],
	} {
		if kind, hash, err := token.ParseSecret(bad); !problem.Has(err, problem.AuthInvalidToken) || kind != "" || hash != [32]byte{} {
			t.Errorf(`ParseSecret(%q) = %q, %x, %v, want the problem %v, "" and %v`, bad, kind, hash, err, problem.AuthInvalidToken, [32]byte{})
		}
		if prefix, _, err := token.ParseDeveloper(bad); !problem.Has(err, problem.AuthInvalidToken) || prefix != "" {
			t.Errorf(`ParseDeveloper(%q) = %q, %v, want the problem %v and ""`, bad, prefix, err, problem.AuthInvalidToken)
		}
	}
}

func TestErrorDoesNotQuoteTheCredential(t *testing.T) {
	text, _ := token.MintSecret(token.User)
	_, _, err := token.ParseSecret(text[:len(text)-1])
	if err == nil || strings.Contains(err.Error(), text[3:20]) {
		t.Errorf("ParseSecret of a secret without its last character: %v, want an error that does not quote it", err)
	}
}

func TestKindOf(t *testing.T) {
	for text, want := range map[string]token.Kind{
		"xm_abc": token.Mailbox, "xu_": token.User, "xg_x": token.Guest, "x_p_s": token.Developer,
		"": "", "x": "", "xx_": "", "XM_abc": "", "eyJhbGciOi": "",
	} {
		if got, ok := token.KindOf(text); got != want || ok != (want != "") {
			t.Errorf("KindOf(%q) = %q, %v, want %v and %v", text, got, ok, want, want != "")
		}
	}
}

// All characters of the alphabet are about equally frequent.
func TestSecretsUseTheirWholeAlphabet(t *testing.T) {
	seen := map[rune]int{}
	for range 500 {
		text, _ := token.MintSecret(token.User)
		for _, c := range text[3 : 3+43] {
			seen[c]++
		}
	}
	for c, n := range seen { // 347 expected; six standard deviations are 111
		if n < 236 || n > 458 {
			t.Errorf("%q turned up %d times, want 236 to 458", c, n)
		}
	}
	if len(seen) != 62 {
		t.Errorf("%d characters turned up, want 62", len(seen))
	}
}

func FuzzParseSecret(f *testing.F) {
	developer, _, _ := token.MintDeveloper()
	user, _ := token.MintSecret(token.User)
	for _, s := range []string{"", "x_", developer, user} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		kind, hash, err := token.ParseSecret(s)
		if err != nil {
			return
		}
		if byPrefix, _ := token.KindOf(s); byPrefix != kind || hash != sha256.Sum256([]byte(s)) {
			t.Errorf("ParseSecret(%q) = %q, %x, want the kind of its prefix and its SHA-256", s, kind, hash)
		}
	})
}

func FuzzParseDeveloper(f *testing.F) {
	developer, _, _ := token.MintDeveloper()
	f.Add(developer)
	f.Add("x_0123456789_")
	f.Fuzz(func(t *testing.T, s string) {
		prefix, _, err := token.ParseDeveloper(s)
		if err == nil && (len(prefix) != 10 || !strings.HasPrefix(s, "x_"+prefix+"_")) {
			t.Errorf("ParseDeveloper(%q) = %q, want 10 characters that the key begins with", s, prefix)
		}
	})
}

func BenchmarkParseSecret(b *testing.B) {
	user, _ := token.MintSecret(token.User)
	b.ReportAllocs()
	for b.Loop() {
		token.ParseSecret(user)
	}
}
