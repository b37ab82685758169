package dkim_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/mailauth/dkim"
	"github.com/gonebox/gonebox/internal/mailauth/dkim/dkimtest"
)

// header and body are of the message that tests sign.
var header = []string{"From: Shop <shop@shop.example>\r\n", "To:  Ann\r\n\t<ann@example.net> \r\n", "Subject: Your  code\r\n", "X-Mark: the upper one\r\n", "X-Mark: the lower one\r\n"}

const body = "Your code\tis 482913  \r\n\r\nBye\r\n\r\n"

// signer makes signatures with any tags, by a canonicalization of its own.
type signer struct {
	key    crypto.Signer
	record string
}

func newSigner(t testing.TB) signer {
	t.Helper()
	key := dkimtest.NewEd25519(t)
	return signer{key.Signer, "v=DKIM1; k=ed25519; p=" + key.Public}
}

func newRSASigner(t testing.TB, bits int) signer {
	t.Helper()
	key := dkimtest.NewRSA(t, bits)
	return signer{key.Signer, "v=DKIM1; p=" + key.Public}
}

// split returns a message as NewMessage takes it.
func split(fields []string) (out [][]byte) {
	for _, f := range fields {
		out = append(out, []byte(f))
	}
	return out
}

var (
	blanks     = regexp.MustCompile(`[ \t]+`)
	blankEnd   = regexp.MustCompile(`(?m) +(\r\n)`)
	emptyLines = regexp.MustCompile(`(\r\n)*\z`)
)

func canonicalField(f string, relaxed bool) string {
	if !relaxed {
		return f
	}
	name, value, _ := strings.Cut(f, ":")
	value = blanks.ReplaceAllString(strings.ReplaceAll(value, "\r\n", ""), " ")
	return strings.ToLower(strings.TrimSpace(name)) + ":" + strings.TrimSpace(value) + "\r\n"
}

func canonicalBody(b string, relaxed bool) string {
	if relaxed {
		b = blankEnd.ReplaceAllString(blanks.ReplaceAllString(b, " "), "$1")
	}
	b = emptyLines.ReplaceAllString(b, "")
	if b != "" || !relaxed {
		b += "\r\n"
	}
	return b
}

// sign returns a signature field with the given tags, "name=value", around which change the default ones: one with a
// known name replaces it, and one with an empty value removes it. The tag b comes last unless a tag "b=" places it.
func (s signer) sign(t testing.TB, fields []string, body string, change ...string) string {
	t.Helper()
	order := []string{"v", "a", "c", "d", "s", "h", "bh"}
	tags := map[string]string{"v": "1", "a": "ed25519-sha256", "c": "relaxed/relaxed", "d": "shop.example", "s": "sel", "h": "from:to:subject:x-mark"}
	if _, ok := s.key.(*rsa.PrivateKey); ok {
		tags["a"] = "rsa-sha256"
	}
	for _, c := range change {
		name, value, _ := strings.Cut(c, "=")
		if _, ok := tags[name]; !ok {
			order = append(order, name)
		}
		tags[name] = value
	}
	head, tail, _ := strings.Cut(strings.ReplaceAll(tags["c"], " ", ""), "/")
	sum := sha256.Sum256([]byte(canonicalBody(body, tail == "relaxed")))
	if _, ok := tags["bh"]; !ok {
		tags["bh"] = base64.StdEncoding.EncodeToString(sum[:])
	}
	if !slices.Contains(order, "b") {
		order = append(order, "b")
	}
	field := func(b string) string {
		tags["b"] = b
		var list []string
		for _, name := range order {
			if tags[name] != "" || name == "b" {
				list = append(list, name+"="+tags[name])
			}
		}
		return "DKIM-Signature: " + strings.Join(list, ";\r\n\t") + "\r\n"
	}
	var signed strings.Builder
	left := slices.Clone(fields)
	for name := range strings.SplitSeq(tags["h"], ":") {
		for i := len(left) - 1; i >= 0; i-- {
			if key, _, _ := strings.Cut(left[i], ":"); strings.EqualFold(strings.TrimSpace(key), strings.TrimSpace(name)) {
				signed.WriteString(canonicalField(left[i], head == "relaxed"))
				left = slices.Delete(left, i, i+1)
				break
			}
		}
	}
	signed.WriteString(strings.TrimSuffix(canonicalField(field(""), head == "relaxed"), "\r\n"))
	digest := sha256.Sum256([]byte(signed.String()))
	opts := crypto.Hash(0)
	if _, ok := s.key.(*rsa.PrivateKey); ok {
		opts = crypto.SHA256
	}
	sig, err := s.key.Sign(rand.Reader, digest[:], opts)
	if err != nil {
		t.Fatal(err)
	}
	b := base64.StdEncoding.EncodeToString(sig)
	return field(b[:20] + "\r\n\t " + b[20:])
}

// verify parses a signature and a key and verifies them.
func verify(field, record string, fields []string, body string) error {
	sig, err := dkim.Parse([]byte(field))
	if err != nil {
		return err
	}
	key, err := dkim.ParseKey(record)
	if err != nil {
		return err
	}
	return dkim.NewMessage(split(fields), []byte(body)).Verify(sig, key)
}
