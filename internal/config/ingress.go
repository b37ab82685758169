package config

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Ingress is a section of ingress: mail that comes otherwise than over SMTP (docs/spec/ingress.md).
type Ingress struct {
	Name string // of the section

	Kind      string `key:"kind" default:"" form:"ingress_kind" help:"who sends the mail, and how: raw and cloudflare (a signed POST of the message), mailgun, postmark, sendgrid, ses (webhooks of these providers), imap (a mailbox elsewhere, which the service reads)"`
	Secret    Secret `key:"secret" default:"" help:"raw, cloudflare: signs the requests; mailgun: the webhook signing key; raw, postmark, sendgrid: the password of Basic authentication, with the name of the ingress as the user"`
	Topic     string `key:"topic" default:"" form:"topic" help:"ses: ARN of the SNS topic to which the mail is published"`
	PublicKey string `key:"public_key" default:"" form:"public_key" help:"sendgrid: the verification key of a signed webhook, in base64, instead of the secret"`
	URL       string `key:"url" default:"" form:"imap" help:"imap: the server, imaps://host or imaps://host:port; imap:// without TLS is for a server on this machine alone"`
	User      string `key:"user" default:"" help:"imap: the user name"`
	Password  Secret `key:"password" default:"" help:"imap: the password"`
	Folder    string `key:"folder" default:"INBOX" required:"true" help:"imap: the folder that is read"`
	MoveTo    string `key:"move_to" default:"" help:"imap: the folder that messages are moved to once they are stored; empty: they are deleted"`
}

// LMTP is the section lmtp.
type LMTP struct {
	Addr string `key:"addr" default:"" form:"lmtp" help:"address to listen on, unix:/path of a socket or a loopback host:port; empty: off"`
}

// The kinds of an ingress.
const (
	IngressRaw        = "raw"
	IngressCloudflare = "cloudflare"
	IngressMailgun    = "mailgun"
	IngressPostmark   = "postmark"
	IngressSendGrid   = "sendgrid"
	IngressSES        = "ses"
	IngressIMAP       = "imap"
)

func ingressKinds() []string {
	return []string{IngressRaw, IngressCloudflare, IngressMailgun, IngressPostmark, IngressSendGrid, IngressSES, IngressIMAP}
}

// ingressKeys returns the keys that each kind has beside kind. Folder has a default, so that it is allowed everywhere.
func ingressKeys(kind string) (required, optional []string) {
	switch kind {
	case IngressSES:
		return []string{"topic"}, nil
	case IngressIMAP:
		return []string{"url", "user", "password"}, []string{"move_to"}
	case IngressSendGrid:
		return nil, []string{"secret", "public_key"}
	}
	return []string{"secret"}, nil
}

var (
	ingressName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	topicARN    = regexp.MustCompile(`^arn:aws[a-z-]*:sns:[a-z0-9-]{1,32}:[0-9]{12}:[A-Za-z0-9_.-]{1,256}$`)
)

// ingressNames returns the names of the ingresses that the sources configure, in order.
func ingressNames(root *yaml.Node, environ []string, overrides map[string]string) (names []string) {
	add := func(name string) {
		if ingressName.MatchString(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for section, all := range pairs(root) {
		if section.Value == "ingress" {
			for name := range pairs(all) {
				add(name.Value)
			}
		}
	}
	for key := range overrides {
		if rest, ok := strings.CutPrefix(key, "ingress."); ok {
			name, _, _ := strings.Cut(rest, ".")
			add(name)
		}
	}
	for _, entry := range environ {
		variable, _, _ := strings.Cut(entry, "=")
		rest, ok := strings.CutPrefix(variable, envPrefix+"INGRESS_")
		name, key, _ := strings.Cut(rest, "_")
		if key = strings.ToLower(strings.TrimSuffix(key, fileSuffix)); ok && slices.Contains(ingressSettings(), key) && !isNamedLike(names, name) {
			add(strings.ToLower(name))
		}
	}
	slices.Sort(names)
	return names
}

// isNamedLike reports whether a part of a variable may begin the name of an ingress with a hyphen, which is _ in variables.
func isNamedLike(names []string, part string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, strings.ToLower(part)+"-") })
}

// ingressSettings returns the keys of an ingress.
func ingressSettings() (keys []string) {
	for f := range reflect.TypeFor[Ingress]().Fields() {
		if key := f.Tag.Get("key"); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// checkIngress checks that an ingress has what its kind needs, and nothing that its kind does not use.
func (l *loader) checkIngress(in *Ingress) {
	prefix := "ingress." + in.Name + "."
	kind := prefix + "kind"
	l.require(in.Kind != "", "is missing; it is one of "+strings.Join(ingressKinds(), ", "), kind)
	if l.byKey[kind].failed {
		return
	}
	required, optional := ingressKeys(in.Kind)
	for _, key := range required {
		l.require(l.byKey[prefix+key].value.String() != "", "needs "+prefix+key+" beside it", kind, prefix+key)
	}
	if in.Kind == IngressSendGrid {
		l.require(in.Secret != "" || in.PublicKey != "", "needs "+prefix+"secret or "+prefix+"public_key beside it", kind, prefix+"secret", prefix+"public_key")
		l.require(in.Secret == "" || in.PublicKey == "", "and "+prefix+"secret exclude each other; keep one", prefix+"public_key", prefix+"secret")
	}
	for _, key := range ingressSettings() {
		if key == "kind" || key == "folder" && l.byKey[prefix+key].origin == "" || in.Kind == IngressIMAP && key == "folder" || slices.Contains(required, key) || slices.Contains(optional, key) {
			continue
		}
		l.require(l.byKey[prefix+key].value.String() == "", "has no meaning for kind: "+in.Kind+"; leave it out", prefix+key)
	}
}

// checkIngressForm is checkForm for the settings of this file, and the URL of an issuer.
func checkIngressForm(form, text string) error {
	ok, reason := false, ""
	switch form {
	case "ingress_kind":
		ok, reason = slices.Contains(ingressKinds(), text), "is none of "+strings.Join(ingressKinds(), ", ")
	case "topic":
		ok, reason = topicARN.MatchString(text), "is not the ARN of a topic, like arn:aws:sns:eu-west-1:123456789012:mail"
	case "public_key":
		return checkPublicKey(text)
	case "imap":
		return checkIMAP(text)
	case "lmtp":
		return checkLMTP(text)
	case "issuer":
		return checkIssuer(text)
	}
	if ok {
		return nil
	}
	return errors.New(reason)
}

// checkPublicKey checks for an ECDSA key in the form in which SendGrid shows it.
func checkPublicKey(text string) error {
	der, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		if key, err := x509.ParsePKIXPublicKey(der); err == nil {
			if _, ok := key.(*ecdsa.PublicKey); ok {
				return nil
			}
		}
	}
	return errors.New("is not an ECDSA public key in base64, as the provider shows it")
}

// checkIMAP checks the URL of an IMAP server.
func checkIMAP(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "imap" && u.Scheme != "imaps" || u.Hostname() == "" || u.User != nil || text != u.Scheme+"://"+u.Host || strings.HasSuffix(u.Host, ":") {
		return errors.New("must be imaps:// and a host, with a port if it is not 993, like imaps://imap.example.org")
	}
	if u.Scheme == "imap" && !isLoopbackHost(u.Hostname()) {
		return errors.New("would send the password without TLS; write imaps://, since imap:// is for a server on this machine alone")
	}
	return nil
}

// checkLMTP checks an address to listen on for LMTP, which must not be reachable from other machines: LMTP has no limits by address
// (RFC 2033 §5).
func checkLMTP(text string) error {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		if !filepath.IsAbs(path) || strings.HasSuffix(path, "/") {
			return errors.New("is not unix: and the absolute path of a socket, like unix:/run/gonebox/lmtp.sock")
		}
		return nil
	}
	host, _, err := net.SplitHostPort(text)
	if err != nil || !isHostPort(text, true) {
		return errors.New("is neither unix:/path nor host:port, like unix:/run/gonebox/lmtp.sock or 127.0.0.1:2003")
	}
	if !isLoopbackHost(host) {
		return errors.New("can be reached from other machines; listen on a loopback address, like 127.0.0.1:2003, or on unix:/path")
	}
	return nil
}

// isLoopbackHost reports whether a host is this machine.
func isLoopbackHost(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
