package blackbox_test

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// A message is described with all of its attachments, wherever they are stored: in rows of their own, together behind the
// texts, and as blobs.
func TestMailpitDescribesManyParts(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for name, test := range map[string]struct {
		sizes []int // of the attachments, in turn
		parts int
		to    []string
	}{
		"small":     {[]int{0, 10, 700}, 990, []string{"ada@company.test"}},
		"shared":    {[]int{10, 700}, 200, []string{"ada@company.test", "bob@company.test"}},
		"together":  {[]int{3000, 9000}, 250, []string{"ada@company.test"}},
		"with blob": {[]int{200 << 10, 100, 130 << 10, 0}, 12, []string{"ada@company.test"}},
	} {
		var raw strings.Builder
		raw.WriteString("Subject: parts\r\nContent-Type: multipart/mixed; boundary=q\r\n\r\n")
		var contents [][]byte
		for i := range test.parts {
			content := bytes.Repeat(fmt.Appendf(nil, "%s %d;", name, i), 1+200<<10/5)[:test.sizes[i%len(test.sizes)]]
			contents = append(contents, content)
			fmt.Fprintf(&raw, "--q\r\nContent-Type: application/x-part\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=f%d\r\n\r\n", i)
			raw.WriteString(apptest.Base64Lines(content))
		}
		raw.WriteString("--q--\r\n")
		m.smtp("parts", raw.String(), test.to...)
		var d mailpitMessage
		m.ask(http.MethodGet, "/api/v1/message/latest", "", &d)
		if len(d.Attachments) != test.parts {
			t.Errorf("%s: the message has %d attachments, want %d", name, len(d.Attachments), test.parts)
			continue
		}
		for i, f := range d.Attachments {
			sums := [2]string{f.Checksums.MD5, f.Checksums.SHA1}
			md5Sum, sha1Sum := md5.Sum(contents[i]), sha1.Sum(contents[i])
			if want := [2]string{hex.EncodeToString(md5Sum[:]), hex.EncodeToString(sha1Sum[:])}; sums != want || f.FileName != fmt.Sprintf("f%d", i) {
				t.Errorf("%s: attachment %d is %s with the checksums %v, want %v", name, i, f.FileName, sums, want)
			}
		}
		for _, i := range []int{0, 1, test.parts / 2, test.parts - 1} {
			path := fmt.Sprintf("/api/v1/message/latest/part/%d", i+1)
			if a := m.ask(http.MethodGet, path, "", nil); !bytes.Equal(a.Body, contents[i]) {
				t.Errorf("%s: GET %s returned %d octets, want the %d of the attachment", name, path, len(a.Body), len(contents[i]))
			}
		}
	}
}
