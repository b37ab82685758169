package ingress

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"
)

// NewRequest returns the request with which the provider of an ingress would post a mail to url. It fails for kinds whose requests only
// the provider can sign.
func NewRequest(ctx context.Context, c Config, url, from, to string, data []byte, now time.Time) (*http.Request, error) {
	switch c.Kind {
	case Raw, Cloudflare:
		return signedRequest(ctx, c, url, from, to, data, now)
	case Mailgun:
		return mailgunRequest(ctx, c, url+"/mime", from, to, data, now)
	case Postmark:
		return postmarkRequest(ctx, c, url, from, to, data)
	case SendGrid:
		if c.PublicKey == "" {
			return sendGridRequest(ctx, c, url, from, to, data)
		}
	}
	return nil, fmt.Errorf("only the provider can sign a request to an ingress of the kind %s: send a mail through it", c.Kind)
}

// mac returns the HMAC-SHA-256 of parts in hexadecimal.
func mac(key string, parts ...[]byte) string {
	h := hmac.New(sha256.New, []byte(key))
	for _, part := range parts {
		h.Write(part) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

func signedRequest(ctx context.Context, c Config, url, from, to string, data []byte, now time.Time) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	t := strconv.FormatInt(now.Unix(), 10)
	r.Header.Set("Content-Type", "message/rfc822")
	r.Header.Set("X-Envelope-From", from)
	r.Header.Set("X-Envelope-To", to)
	r.Header.Set("X-Signature", "t="+t+",v1="+mac(c.Secret, []byte(t+"\n"+from+"\n"+to+"\n\n"), data))
	return r, nil
}

func mailgunRequest(ctx context.Context, c Config, url, from, to string, data []byte, now time.Time) (*http.Request, error) {
	t := strconv.FormatInt(now.Unix(), 10)
	random := make([]byte, 25)
	_, _ = rand.Read(random) // never fails
	token := hex.EncodeToString(random)
	return formRequest(ctx, url, map[string]string{
		"recipient": to, "sender": from, "timestamp": t, "token": token, "signature": mac(c.Secret, []byte(t), []byte(token)), "body-mime": string(data),
	})
}

func postmarkRequest(ctx context.Context, c Config, url, from, to string, data []byte) (*http.Request, error) {
	text, err := json.Marshal(map[string]any{
		"MessageID": rand.Text(), "OriginalRecipient": to, "FromFull": map[string]string{"Email": from}, "RawEmail": string(data),
	})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.Name+":"+c.Secret)))
	return r, nil
}

func sendGridRequest(ctx context.Context, c Config, url, from, to string, data []byte) (*http.Request, error) {
	text, err := json.Marshal(envelope{From: from, To: []string{to}})
	if err != nil {
		return nil, err
	}
	r, err := formRequest(ctx, url, map[string]string{"envelope": string(text), "email": string(data)})
	if err == nil {
		r.SetBasicAuth(c.Name, c.Secret)
	}
	return r, err
}

// formRequest returns a request with a form.
func formRequest(ctx context.Context, url string, fields map[string]string) (*http.Request, error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, &body)
	if err == nil {
		r.Header.Set("Content-Type", w.FormDataContentType())
	}
	return r, err
}
