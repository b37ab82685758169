package agents_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// With the memory budget of a container of 512 MiB, an attachment of several megabytes is returned at the first try. One that a
// small budget can never allow is refused, and the failure says that trying again does not help.
func TestLargeAttachments(t *testing.T) {
	for _, test := range []struct {
		budget   string
		size     int
		returned bool
	}{{"307MiB", 5_000_000, true}, {"307MiB", 10_000_000, true}, {"128MiB", 5_000_000, true}, {"128MiB", 10_000_000, false}} {
		w := start(t, "memory.budget="+test.budget, "message.attachment_max=12MiB")
		a := w.web("")
		box := a.create(args{})
		content := make([]byte, test.size)
		_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
		lines := []string{
			"From: shop@example.org", "Subject: large", "MIME-Version: 1.0", `Content-Type: multipart/mixed; boundary="b"`, "", "--b",
			"Content-Type: application/octet-stream", "Content-Disposition: attachment; filename=a.bin", "Content-Transfer-Encoding: base64", "",
		}
		w.send(box, append(lines, strings.TrimSuffix(apptest.Base64Lines(content), "\r\n"), "--b--")...)
		id := a.call("wait_for_message", args{"mailbox": box})["messageId"]
		file := a.call("read_message", args{"mailbox": box, "messageId": id})["attachments"].([]any)[0].(map[string]any)["attachmentId"]
		out, text, failed := a.try(t.Context(), "get_attachment", args{"mailbox": box, "messageId": id, "attachmentId": file})
		if !test.returned {
			if !failed || out["code"] != "response.too_large" || !strings.Contains(text, "10000000") || !strings.Contains(text, "does not help") {
				t.Errorf("get_attachment of %d octets with a budget of %s: %.300s, want response.too_large, the size and that trying again does not help", test.size, test.budget, text)
			}
			continue
		}
		got, _ := out["content"].(string)
		if octets, _ := base64.StdEncoding.DecodeString(got); failed || !bytes.Equal(octets, content) {
			t.Errorf("get_attachment of %d octets with a budget of %s: %.300s, want the attachment", test.size, test.budget, text)
		}
	}
}
