package system_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	ingressMails  = flag.Int("ingressmails", 400, "mails of the test of ingresses through crashes, of each kind")
	ingressCrash  = flag.Duration("ingresscrash", 700*time.Millisecond, "longest time between two crashes of that test")
	ingressSender = http.Client{Timeout: 20 * time.Second}
)

// provider is a stub of a mail provider: it posts each mail until the service acknowledges it, as the documentation of each says, only
// sooner. Now and then it gives up waiting for an answer, and posts a mail again that it was answered.
type provider struct {
	kind  string
	url   string
	seed  uint64
	boxes []mailbox

	posts, acked atomic.Int64
	strays       sync.Map // answers that no provider should ever get
}

// providerMail is a mail of the stub.
type providerMail struct {
	token string
	to    []int // indices of the mailboxes
	data  []byte
	sent  *multipartForm // of Mailgun, which posts the same form again; nil: another kind
}

// multipartForm is a form that is posted.
type multipartForm struct {
	media string
	body  []byte
}

// hexMAC returns an HMAC-SHA-256 in hexadecimal.
func hexMAC(key string, parts ...string) string {
	h := hmac.New(sha256.New, []byte(key))
	for _, part := range parts {
		_, _ = io.WriteString(h, part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// compose makes a mail: a few are long.
func (p *provider) compose(rng *rand.Rand, n int) *providerMail {
	m := &providerMail{token: fmt.Sprintf("tkn-%d-%d.", p.seed, n), to: []int{rng.IntN(len(p.boxes))}}
	if p.kind != "mailgun" && rng.IntN(3) == 0 { // a route of Mailgun posts for each recipient
		m.to = append(m.to, (m.to[0]+1)%len(p.boxes))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\r\n", m.token)
	for range rng.IntN(10) + rng.IntN(20)/19*rng.IntN(1000) + rng.IntN(200)/199*40_000 {
		fmt.Fprintf(&text, "%x%x\r\n", rng.Uint64(), rng.Uint64())
	}
	m.data = sampleMail("through an ingress", text.String())
	return m
}

// request returns the request for a mail.
func (p *provider) request(ctx context.Context, m *providerMail) *http.Request {
	const from = "shop@sender.example"
	now := strconv.FormatInt(time.Now().Unix(), 10)
	var to []string
	for _, box := range m.to {
		to = append(to, p.boxes[box].Address)
	}
	if p.kind != "mailgun" {
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(m.data))
		r.Header = http.Header{"Content-Type": {"message/rfc822"}, "X-Envelope-From": {from}, "X-Envelope-To": to}
		r.Header.Set("X-Signature", "t="+now+",v1="+hexMAC(workerSecret, now, "\n", from, "\n", strings.Join(to, ","), "\n\n", string(m.data)))
		return r
	}
	if m.sent == nil {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		token := hex.EncodeToString([]byte(m.token))
		for _, f := range [][2]string{
			{"recipient", to[0]}, {"sender", from}, {"timestamp", now}, {"token", token}, {"signature", hexMAC(workerSecret, now, token)}, {"body-mime", string(m.data)},
		} {
			_ = w.WriteField(f[0], f[1])
		}
		_ = w.Close()
		m.sent = &multipartForm{w.FormDataContentType(), body.Bytes()}
	}
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/mime", bytes.NewReader(m.sent.body))
	r.Header.Set("Content-Type", m.sent.media)
	return r
}

// post posts a mail once, and reports whether it was acknowledged.
func (p *provider) post(ctx context.Context, rng *rand.Rand, m *providerMail) bool {
	if rng.IntN(10) == 0 { // the provider does not wait for the answer
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, time.Duration(rng.IntN(30_000))*time.Microsecond)
		defer end()
	}
	p.posts.Add(1)
	answer, err := ingressSender.Do(p.request(ctx, m))
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode == http.StatusOK && bytes.Count(text, []byte(`"reply":"250 `)) == len(m.to):
		return true
	case answer.StatusCode == http.StatusOK, answer.StatusCode < 500:
		p.strays.Store(fmt.Sprintf("%d %s", answer.StatusCode, text), true)
	}
	return false
}

// run posts mails until each is acknowledged, from several goroutines.
func (p *provider) run(ctx context.Context, all []*providerMail) {
	next := make(chan *providerMail)
	var posting sync.WaitGroup
	for n := range 12 {
		rng := rand.New(rand.NewPCG(p.seed, uint64(n)))
		posting.Go(func() {
			for m := range next {
				for ctx.Err() == nil && !p.post(ctx, rng, m) {
					<-time.After(time.Duration(1+rng.IntN(10)) * time.Millisecond)
				}
				if rng.IntN(10) == 0 {
					p.post(ctx, rng, m) // once more
				}
				p.acked.Add(1)
			}
		})
	}
	for _, m := range all {
		next <- m
	}
	close(next)
	posting.Wait()
}

// Mail that providers post through crashes of the service is neither lost nor doubled.
func TestMailOfAnIngressSurvivesCrashes(t *testing.T) {
	t.Parallel()
	for i, kind := range []string{"raw", "cloudflare", "mailgun"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := &provider{kind: kind, seed: *seed + uint64(i)}
			if *seed == 0 {
				p.seed = uint64(rand.Uint32())
			}
			t.Logf("go test ./test/system -run TestMailOfAnIngressSurvivesCrashes/%s -seed %d", kind, p.seed-uint64(i))
			s := start(t, options{set: map[string]string{"ingress.in.kind": kind, "ingress.in.secret": workerSecret}})
			for range 4 {
				p.boxes = append(p.boxes, s.newMailbox())
			}
			p.url = s.url + "/ingress/in"
			rng := rand.New(rand.NewPCG(p.seed, 99))
			all := make([]*providerMail, *ingressMails)
			for n := range all {
				all[n] = p.compose(rng, n)
			}
			done := make(chan struct{})
			go func() { defer close(done); p.run(t.Context(), all) }()
			kills := p.torment(t, s, rng, done)
			p.verify(t, s, all)
			t.Logf("%s: %d mails, %d posts, %d kills", kind, len(all), p.posts.Load(), kills)
		})
	}
}

// killsMax is how often the service is killed at most: between two kills a busy machine may get nothing done.
const killsMax = 100

// torment kills the service again and again until each mail is acknowledged.
func (p *provider) torment(t *testing.T, s *service, rng *rand.Rand, done <-chan struct{}) (kills int) {
	t.Helper()
	address := s.http
	for {
		if kills == killsMax {
			<-done
			return kills
		}
		select {
		case <-done:
			return kills
		case <-time.After(time.Duration(rng.Int64N(int64(*ingressCrash)))):
		}
		s.kill()
		kills++
		if s.restart(); s.http != address {
			t.Fatalf("the service listens at %s after the crash, want %s again: another program took the port", s.http, address)
		}
	}
}

// verify counts each mail in each mailbox.
func (p *provider) verify(t *testing.T, s *service, all []*providerMail) {
	t.Helper()
	lost, doubled := 0, 0
	found := make([]map[string][]string, len(p.boxes))
	for i, box := range p.boxes {
		found[i] = tokens(t, s.messages(box))
	}
	for _, m := range all {
		for i := range p.boxes {
			want, got := 0, len(found[i][m.token])
			for _, to := range m.to {
				if to == i {
					want = 1
				}
			}
			lost, doubled = lost+max(want-got, 0), doubled+max(got-want, 0)
		}
	}
	if lost > 0 || doubled > 0 {
		t.Errorf("of %d mails %d are lost and %d are there once too often, want each once", len(all), lost, doubled)
	}
	p.strays.Range(func(answer, _ any) bool {
		t.Errorf("the provider got the response %v, want one that a crash explains", answer)
		return true
	})
}
