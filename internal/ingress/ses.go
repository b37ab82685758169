package ingress

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
)

// ses are the notifications of a receipt rule of Amazon SES that publishes mail with its content to a topic of SNS.
type ses struct {
	Config
	clock  clock.Clock
	log    *slog.Logger
	client *http.Client
	certs  *certificates
}

// newSES returns the kind ses.
func newSES(c Config, p *Parts) ses {
	client := *p.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // which could lead elsewhere
	return ses{c, p.Clock, p.Logger, &client, newCertificates(&client, p.Clock, p.Roots)}
}

const (
	// sesBodyMax is how large a notification may be. SNS publishes messages of at most 256 KiB.
	sesBodyMax = 1 << 20
	// notificationAge is how old a notification may be. SNS gives up after an hour.
	notificationAge = 90 * time.Minute
)

func (ses) bodyMax(int64) int64 { return sesBodyMax }

func (ses) bounces() bool { return false }

// admit accepts every request: its signature is in the body.
func (ses) admit(*Request) error { return nil }

// notification is a message of SNS.
type notification struct {
	Type             string
	MessageID        string `json:"MessageId"`
	Token            string
	TopicArn         string
	Subject          *string
	Message          string
	Timestamp        string
	SignatureVersion string
	Signature        string
	SigningCertURL   string
	SubscribeURL     string
}

// The types of a notification.
const (
	typeNotification = "Notification"
	typeSubscribe    = "SubscriptionConfirmation"
	typeUnsubscribe  = "UnsubscribeConfirmation"
)

// received is the message of a notification about a mail.
type received struct {
	NotificationType string `json:"notificationType"`
	Mail             struct {
		Source    string `json:"source"`
		MessageID string `json:"messageId"`
	} `json:"mail"`
	Receipt struct {
		Recipients []string `json:"recipients"`
		Action     struct {
			Encoding string `json:"encoding"`
		} `json:"action"`
	} `json:"receipt"`
	Content string `json:"content"`
}

// parse checks the signature of a notification, and returns its mail. It confirms the subscription of the configured topic.
func (k ses) parse(ctx context.Context, _ *Request, body []byte) (*mail, error) {
	var n notification
	if err := json.Unmarshal(body, &n); err != nil {
		return nil, problem.Detailf(problem.AuthInvalidToken, "the request is not a notification of SNS")
	}
	at, err := time.Parse(time.RFC3339, n.Timestamp)
	now := k.clock.Now()
	switch {
	case n.TopicArn != k.Topic:
		return nil, problem.Detailf(problem.AuthInvalidToken, "the notification is of another topic")
	case err != nil || now.Sub(at) > notificationAge || at.Sub(now) > signatureAge:
		return nil, problem.Detailf(problem.AuthInvalidToken, "the notification is too old")
	}
	if err := k.certs.verify(ctx, &n); err != nil {
		return nil, err
	}
	switch n.Type {
	case typeSubscribe:
		return nil, k.confirm(ctx, n.SubscribeURL)
	case typeNotification:
		return k.mailOf(n.Message)
	}
	return nil, nil // the end of a subscription
}

// mailOf returns the mail of a notification; nil for one that is about none, such as the first of a topic.
func (k ses) mailOf(text string) (*mail, error) {
	var in received
	if err := json.Unmarshal([]byte(text), &in); err != nil || in.NotificationType != "Received" {
		k.log.Info("a notification is about no mail that was received", "ingress", k.Name, "type", in.NotificationType)
		return nil, nil //nolint:nilerr // Amazon would send it again
	}
	if in.Content == "" {
		return nil, unread("the notification has no content; use the action SNS, which has that of mail up to 150 KB")
	}
	m := &mail{from: in.Mail.Source, to: in.Receipt.Recipients, id: in.Mail.MessageID, data: []byte(in.Content)}
	if strings.EqualFold(in.Receipt.Action.Encoding, "BASE64") {
		var err error
		if m.data, err = base64.StdEncoding.DecodeString(in.Content); err != nil {
			return nil, problem.Detailf(problem.RequestInvalid, "the content is not base64")
		}
	}
	if m.from == "<>" {
		m.from = ""
	}
	return m, m.check()
}

var snsHost = regexp.MustCompile(`^sns\.[a-z0-9-]{1,32}\.amazonaws\.com$`)

// checkHost checks that a URL is one of SNS itself: with https, on its host of a region, without a port and a password. A notification
// must not have the service call any other. Error: auth.invalid_token.
func checkHost(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.User != nil || !snsHost.MatchString(u.Host) {
		return problem.Detailf(problem.AuthInvalidToken, "the notification names a URL that is not one of SNS")
	}
	return nil
}

// certificatePath is where SNS serves its certificates.
var certificatePath = regexp.MustCompile(`^/[0-9A-Za-z-]{1,100}\.pem$`)

// checkCertificateURL checks that a URL is that of a certificate of SNS: other responses of its hosts contain what accounts of others have
// stored there. Error: auth.invalid_token.
func checkCertificateURL(text string) error {
	if err := checkHost(text); err != nil {
		return err
	}
	if u, err := url.Parse(text); err != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || !certificatePath.MatchString(u.EscapedPath()) {
		return problem.Detailf(problem.AuthInvalidToken, "the notification names a URL that is not one of a certificate of SNS")
	}
	return nil
}

// confirm confirms the subscription of the topic.
func (k ses) confirm(ctx context.Context, address string) error {
	if err := checkHost(address); err != nil {
		return err
	}
	if _, err := get(ctx, k.client, address); err != nil {
		return fmt.Errorf("confirm the subscription: %w", err)
	}
	k.log.Info("subscription confirmed", "ingress", k.Name, "topic", k.Topic)
	return nil
}
