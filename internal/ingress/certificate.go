package ingress

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // SNS signs with it where the topic has signature version 1
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/cache"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
)

const (
	signerName       = "sns.amazonaws.com" // of the certificate
	certificateKept  = time.Hour
	certificatesKept = 16
	responseMax      = 64 << 10 // octets of a response
	fetchTimeout     = 10 * time.Second
)

// certificates fetches and keeps the certificates by which notifications are signed.
type certificates struct {
	client *http.Client
	clock  clock.Clock
	roots  *x509.CertPool // nil: those of the system
	kept   *cache.Cache[string, *rsa.PublicKey]
}

// newCertificates returns certificates that client fetches. Its connections verify the host.
func newCertificates(client *http.Client, c clock.Clock, roots *x509.CertPool) *certificates {
	return &certificates{client: client, clock: c, roots: roots, kept: cache.New[string, *rsa.PublicKey](certificatesKept)}
}

// verify checks the signature of a notification. Errors: auth.invalid_token; another one where the certificate could not be fetched.
func (c *certificates) verify(ctx context.Context, n *notification) error {
	if err := checkCertificateURL(n.SigningCertURL); err != nil {
		return err
	}
	signature, err := base64.StdEncoding.DecodeString(n.Signature)
	text, ok := n.signedText()
	if err != nil || len(signature) == 0 || !ok {
		return errNotSigned()
	}
	key, err := c.key(ctx, n.SigningCertURL)
	if err != nil {
		return err
	}
	switch n.SignatureVersion {
	case "1":
		sum := sha1.Sum([]byte(text)) //nolint:gosec // see the import
		err = rsa.VerifyPKCS1v15(key, crypto.SHA1, sum[:], signature)
	case "2":
		sum := sha256.Sum256([]byte(text))
		err = rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature)
	default:
		err = errors.New("unknown version")
	}
	if err != nil {
		return errNotSigned()
	}
	return nil
}

func errNotSigned() error {
	return problem.Detailf(problem.AuthInvalidToken, "the signature is not that of the notification")
}

// signedText returns what is signed of a notification: names and values, each on a line.
func (n *notification) signedText() (text string, ok bool) {
	var b strings.Builder
	add := func(name, value string) { b.WriteString(name + "\n" + value + "\n") }
	add("Message", n.Message)
	add("MessageId", n.MessageID)
	switch n.Type {
	case typeNotification:
		if n.Subject != nil {
			add("Subject", *n.Subject)
		}
		add("Timestamp", n.Timestamp)
	case typeSubscribe, typeUnsubscribe:
		add("SubscribeURL", n.SubscribeURL)
		add("Timestamp", n.Timestamp)
		add("Token", n.Token)
	default:
		return "", false
	}
	add("TopicArn", n.TopicArn)
	add("Type", n.Type)
	return b.String(), true
}

// key returns the public key of the certificate at an address.
func (c *certificates) key(ctx context.Context, address string) (*rsa.PublicKey, error) {
	now := c.clock.Now()
	if key, ok := c.kept.Get(address, now); ok {
		return key, nil
	}
	text, err := get(ctx, c.client, address)
	if err != nil {
		return nil, fmt.Errorf("fetch the certificate of a notification: %w", err)
	}
	key, err := c.parse(text)
	if err != nil {
		return nil, problem.Detailf(problem.AuthInvalidToken, "the certificate of the notification is not valid: %v", err)
	}
	c.kept.Put(address, key, 1, now.Add(certificateKept))
	return key, nil
}

// parse returns the key of the first certificate, of which the others are the chain. The system must trust it, except that the
// certificate of an authority between it and one that the system knows may be missing: SNS serves its certificate without the chain,
// from a host that TLS has verified.
func (c *certificates) parse(text []byte) (*rsa.PublicKey, error) {
	var chain []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		chain = append(chain, cert)
	}
	if len(chain) == 0 {
		return nil, errors.New("there is none")
	}
	leaf, between := chain[0], x509.NewCertPool()
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	now := c.clock.Now()
	if err := leaf.VerifyHostname(signerName); err != nil {
		return nil, err
	}
	if now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return nil, errors.New("it has expired or is not valid yet")
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: c.roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	if isAlone := len(chain) == 1 && !bytes.Equal(leaf.RawIssuer, leaf.RawSubject); err != nil && !(unknown && isAlone) {
		return nil, err
	}
	key, ok := leaf.PublicKey.(*rsa.PublicKey)
	if !ok {
		return nil, errors.New("its key is not an RSA key")
	}
	return key, nil
}

// get returns the body of a response with the status 200.
func get(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the response has the status %d", response.StatusCode)
	}
	return io.ReadAll(io.LimitReader(response.Body, responseMax))
}
