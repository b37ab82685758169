package local_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/problem"
)

// rules are those of a service with a public base URL and two hosts from the configuration.
func rules() *local.Rules {
	return local.New("https://Box.example.org:8443", "dev.hosts", []string{"ci.example.net", "2001:db8::5"})
}

// request returns a request of a program on this machine, changed by header fields "Name: value". The pseudo-fields peer and
// Host set the peer's address and the host.
func request(fields ...string) *http.Request {
	q := &http.Request{Method: http.MethodGet, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "127.0.0.1:40000", Host: "localhost:8025", Header: http.Header{}}
	for _, field := range fields {
		switch name, value, _ := strings.Cut(field, ": "); name {
		case "peer":
			q.RemoteAddr = value
		case "Host":
			q.Host = value
		case "method":
			q.Method = value
		default:
			q.Header.Add(name, value)
		}
	}
	return q
}

// codeOf returns the code of a check, "" where it passes.
func codeOf(err error) problem.Code {
	if err == nil {
		return ""
	}
	p, _ := problem.From(err)
	return p.Code
}

func TestRequestIsLocalIfAllRulesHold(t *testing.T) {
	const client, name, page = problem.AccessClientNotAllowed, problem.AccessHostNotAllowed, problem.AccessOriginNotAllowed
	for _, c := range []struct {
		fields string // separated by |
		want   problem.Code
	}{
		{"", ""},
		// Peers.
		{"peer: 10.1.2.3:1", ""},
		{"peer: 172.31.255.1:1", ""},
		{"peer: 192.168.0.9:1", ""},
		{"peer: [::1]:1", ""},
		{"peer: [fd12::1]:1", ""},
		{"peer: [::ffff:127.0.0.1]:1", ""},
		{"peer: 203.0.113.9:1", client},
		{"peer: [2001:db8::1]:1", client},
		{"peer: [::ffff:203.0.113.9]:1", client},
		{"peer: 169.254.1.1:1", client},
		{"peer: 100.64.0.1:1", client},
		{"peer: [fe80::1%eth0]:1", client},
		{"peer: 172.32.0.1:1", client},
		{"peer: 0.0.0.0:1", client},
		{"peer: @", client},
		{"peer: ", client},
		// X-Forwarded-For and X-Real-Ip.
		{"X-Forwarded-For: 10.0.0.7", ""},
		{"X-Forwarded-For: 10.0.0.7, 127.0.0.1", ""},
		{"X-Forwarded-For: 10.0.0.7:4711,[::1]:9, [fd00::1]", ""},
		{"X-Forwarded-For: , ", ""},
		{"X-Forwarded-For: 203.0.113.9", client},
		{"X-Forwarded-For: 203.0.113.9, 127.0.0.1", client},
		{"X-Forwarded-For: 127.0.0.1, 203.0.113.9", client},
		{"X-Forwarded-For: 127.0.0.1|X-Forwarded-For: 203.0.113.9", client},
		{"X-Forwarded-For: 203.0.113.9|X-Forwarded-For: 127.0.0.1", client},
		{"X-Forwarded-For: unknown", client},
		{"X-Forwarded-For: localhost", client},
		{"X-Forwarded-For: [2001:db8::1]", client},
		{"X-Forwarded-For: [2001:db8::1]:80", client},
		{"X-Forwarded-For: ::ffff:203.0.113.9", client},
		{"X-Forwarded-For: 127.1", client},
		{"X-Real-Ip: 203.0.113.9", client},
		{"X-Real-Ip: 192.168.1.2", ""},
		{"X-Forwarded-For: 10.0.0.7|X-Real-Ip: 203.0.113.9", client},
		{"peer: 203.0.113.9:1|X-Forwarded-For: 127.0.0.1", client},
		// Forwarded.
		{"Forwarded: for=10.0.0.7", ""},
		{`Forwarded: for="10.0.0.7:4711";proto=http;by=203.0.113.43`, ""},
		{`Forwarded: For="[fd00::1]:80", for=127.0.0.1`, ""},
		{"Forwarded: , ", ""},
		{"Forwarded: ;", client},
		{`Forwarded: for="[2001:db8::1]"`, client},
		{`Forwarded: for="[2001:db8:cafe::17]:4711"`, client},
		{"Forwarded: for=203.0.113.9", client},
		{"Forwarded: FOR=203.0.113.9;proto=https", client},
		{"Forwarded: for=127.0.0.1, for=203.0.113.9", client},
		{"Forwarded: for=203.0.113.9, for=127.0.0.1", client},
		{"Forwarded: for=127.0.0.1|Forwarded: for=203.0.113.9", client},
		{"Forwarded: for=unknown", client},
		{"Forwarded: for=_hidden", client},
		{"Forwarded: proto=https", client},
		{"Forwarded: for=127.0.0.1;for=203.0.113.9", client},
		{`Forwarded: for="127.0.0.1`, client},
		{`Forwarded: for="127.0.0.1", by="a,for=127.0.0.1`, client},
		{"Forwarded: 203.0.113.9", client},
		{"Forwarded: for", client},
		{`Forwarded: for="203.0.113.\9"`, client},
		{`Forwarded: for="127.0.0.\1"`, ""},
		{`Forwarded: for=127.0.0.1;secret="a;for=203.0.113.9,b"`, ""},
		{"Forwarded: for=", client},
		// Host: addresses and private names.
		{"Host: localhost", ""},
		{"Host: LOCALHOST:8025", ""},
		{"Host: localhost.", ""},
		{"Host: a.b.localhost:1", ""},
		{"Host: gonebox.test", ""},
		{"Host: host.docker.internal", ""},
		{"Host: printer.local.", ""},
		{"Host: nas.home.arpa:80", ""},
		{"Host: mailpit:8025", ""},
		{"Host: my_app_1", ""},
		{"Host: MAILPIT", ""},
		{"Host: 127.0.0.1:8025", ""},
		{"Host: 192.168.0.7", ""},
		{"Host: 203.0.113.9:80", ""},
		{"Host: [::1]:8025", ""},
		{"Host: [::1]", ""},
		{"Host: [2001:db8::9]", ""},
		{"Host: [::ffff:127.0.0.1]:1", ""},
		{"Host: localhost:", ""},
		{"Host: box.example.org", ""},
		{"Host: BOX.example.org.:8443", ""},
		{"Host: ci.example.net:1", ""},
		// Host: names that public DNS may have.
		{"Host: evil.example", name},
		{"Host: evil.example.:8025", name},
		{"Host: EVIL.EXAMPLE", name},
		{"Host: localhost.evil.example", name},
		{"Host: evillocalhost.example", name},
		{"Host: 127.0.0.1.nip.io", name},
		{"Host: a.8.b.d.0.1.0.0.2.ip6.arpa", name},
		{"Host: a.2.0.192.in-addr.arpa:8025", name},
		{"Host: evil.arpa", name},
		{"Host: home.arpa", name},
		{"Host: xhome.arpa", name},
		{"Host: nas.lan", name},
		{"Host: nas.home", name},
		{"Host: com", name},
		{"Host: ai:8025", name},
		{"Host: dev", name},
		{"Host: arpa", name},
		{"Host: ck", name},
		{"Host: xn--p1ai", name},
		{"Host: COM.", name},
		{"Host: sub.box.example.org", name},
		{"Host: xbox.example.org", name},
		{"Host: ci.example.net.evil.example", name},
		// Host: malformed.
		{"Host: ", name},
		{"Host: .", name},
		{"Host: localhost..", name},
		{"Host: .localhost", name},
		{"Host: a..localhost", name},
		{"Host: localhost:http", name},
		{"Host: localhost:65536", name},
		{"Host: localhost:1:2", name},
		{"Host: ::1", name},
		{"Host: [::1", name},
		{"Host: [localhost]", name},
		{"Host: [127.0.0.1]", name},
		{"Host: user@localhost", name},
		{"Host: localhost/", name},
		{"Host: evil.example,localhost", name},
		{"Host: evil.example .localhost", name},
		{"Host: löcal.test", name},
		{"Host: a%2elocalhost", name},
		{"Host: " + strings.Repeat("a", 64) + ".test", name},
		{"Host: " + strings.Repeat("a.", 130) + "test", name},
		{"X-Forwarded-Host: evil.example", name},
		{"X-Forwarded-Host: mail.test, evil.example", name},
		{"X-Forwarded-Host: mail.test:80", ""},
		{"Forwarded: for=127.0.0.1;host=evil.example", name},
		{`Forwarded: for=127.0.0.1;host="mail.test:80"`, ""},
		// Origin.
		{"Origin: http://localhost:8025", ""},
		{"Origin: http://localhost:3000", ""},
		{"Origin: HTTPS://LOCALHOST", ""},
		{"Origin: http://127.0.0.1:5173", ""},
		{"Origin: http://127.9.9.9", ""},
		{"Origin: http://[::1]:4200", ""},
		{"Origin: http://localhost:3000/", ""},
		{"Origin: http://ci.example.net:9", ""},
		{"Origin: https://[2001:db8::5]", ""},
		{"Host: mailpit:8025|Origin: http://mailpit:8025", ""},
		{"Host: 192.168.0.7|Origin: http://192.168.0.7", ""},
		{"Host: 192.168.0.7:80|Origin: http://192.168.0.7", ""},
		{"Host: box.example.org|Origin: https://box.example.org", ""},
		{"Host: box.example.org|Origin: https://BOX.example.org:443", ""},
		{"Host: [fd00::7]:8025|Origin: http://[fd00::7]:8025", ""},
		{"Host: mailpit:8025|Origin: http://mailpit:3000", page},
		{"Host: mailpit:8025|Origin: http://mailpit", page},
		{"Host: 192.168.0.7|Origin: https://192.168.0.7:80", page},
		{"Host: 192.168.0.7:80|Origin: https://192.168.0.7", page},
		{"Host: 192.168.0.7:8025|Origin: http://192.168.0.8:8025", page},
		{"Host: box.example.org|Origin: https://box.example.org:8443", page},
		{"Origin: https://box.example.org:8443", page},
		{"Origin: https://evil.example", page},
		{"Origin: null", page},
		{"Origin: ", page},
		{"Origin: http://localhost.evil.example", page},
		{"Origin: http://evil.example:8025", page},
		{"Origin: http://localhost@evil.example", page},
		{"Origin: http://evil.example#localhost", page},
		{"Origin: http://localhost:3000, http://evil.example", page},
		{"Origin: http://localhost http://evil.example", page},
		{"Origin: http://localhost|Origin: http://evil.example", page},
		{"Origin: http://localhost|Origin: http://localhost", page},
		{"Origin: chrome-extension://localhost", page},
		{"Origin: file://", page},
		{"Origin: file://localhost", page},
		{"Origin: app://localhost", page},
		{"Origin: data:localhost", page},
		{"Origin: localhost", page},
		{"Origin: //localhost", page},
		{"Origin: http:localhost", page},
		{"Origin: http://127.0.0.1.nip.io", page},
		{"Origin: http://0.0.0.0:8025", page},
		{"Origin: http://app.localhost:3000", page},
		{"Origin: http://192.168.0.7", page},
		{"Origin: http://mailpit", page},
		{"Origin: http://localhost//", page},
		{"Origin: http://localhost/x", page},
		{"Origin: http://", page},
		{"Host: evil.example:8025|Origin: http://evil.example:8025", name}, // a rebound name
		// Sec-Fetch-Site.
		{"Sec-Fetch-Site: same-origin", ""},
		{"Sec-Fetch-Site: same-site", ""},
		{"Sec-Fetch-Site: none", ""},
		{"Sec-Fetch-Site: cross-site", page},
		{"Sec-Fetch-Site: Cross-Site", page},
		{"Sec-Fetch-Site: none|Sec-Fetch-Site: cross-site", page},
		{"Origin: http://localhost:3000|Sec-Fetch-Site: cross-site", page},
		{"Origin: http://localhost:3000|Sec-Fetch-Site: same-site", ""},
	} {
		var fields []string
		if c.fields != "" {
			fields = strings.Split(c.fields, "|")
		}
		if got := codeOf(rules().Check(request(fields...))); got != c.want {
			t.Errorf("Check of a request with %q: %q, want %q", fields, got, c.want)
		}
	}
}

func TestOnlyOldRequestsMayHaveNoHost(t *testing.T) {
	q := request("Host: ")
	q.ProtoMajor, q.ProtoMinor = 1, 0
	if err := rules().CheckHost(q); err != nil {
		t.Errorf("CheckHost of HTTP/1.0 without Host: %v, want nil", err)
	}
	if q.Host = "evil.example"; codeOf(rules().CheckHost(q)) != problem.AccessHostNotAllowed {
		t.Errorf("CheckHost of HTTP/1.0 with Host evil.example: %v, want %s", rules().CheckHost(q), problem.AccessHostNotAllowed)
	}
}

func TestRefusalsNameTheValueAndTheKey(t *testing.T) {
	r := rules().With("compat.mailpit.hosts", []string{"pit.example.net"})
	for fields, want := range map[string][]string{
		"Host: evil.example:8025":                                  {`"evil.example:8025"`, "Host", "compat.mailpit.hosts"},
		"X-Forwarded-Host: evil.example":                           {`"evil.example"`, "X-Forwarded-Host", "compat.mailpit.hosts"},
		"Origin: https://evil.example":                             {`"https://evil.example"`, "compat.mailpit.hosts"},
		"Origin: null":                                             {`"null"`, "compat.mailpit.hosts"},
		"Sec-Fetch-Site: cross-site":                               {"cross-site", "compat.mailpit.hosts"},
		"Origin: http://127.0.0.1:3000|Sec-Fetch-Site: cross-site": {`"http://127.0.0.1:3000"`, `"localhost:8025"`, "by its own host"},
		"X-Forwarded-For: 203.0.113.9":                             {`"203.0.113.9"`, "X-Forwarded-For"},
		"Host: " + strings.Repeat("a.", 500):                       {strings.Repeat("a.", 50) + `" in Host`},
		"Host: evil\u202e.example\"; rm":                           {`"evil\u202e.example\"; rm"`},
		"Forwarded: for=\"[2001:db8::1]:4711\"":                    {`"[2001:db8::1]:4711"`, "Forwarded"},
	} {
		err := r.Check(request(strings.Split(fields, "|")...))
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("Check of a request with %q: %v, want a text with %q", fields, err, part)
			}
		}
	}
	for _, name := range []string{"pit.example.net", "ci.example.net", "box.example.org"} {
		if err := r.Check(request("Host: " + name)); err != nil {
			t.Errorf("Check of a request to %s: %v, want nil", name, err)
		}
	}
	if err := rules().Check(request("Host: pit.example.net")); err == nil {
		t.Error("Check of the name that only the new Rules allow returned no error, want With to leave the old Rules as they were")
	}
}

func TestNavigationsOpenPages(t *testing.T) {
	for fields, want := range map[string]bool{
		"Sec-Fetch-Site: cross-site": true, "Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document": true, "method: HEAD": true,
		"method: POST|Sec-Fetch-Mode: navigate": false, "method: DELETE": false, "Sec-Fetch-Mode: no-cors": false, "Sec-Fetch-Mode: cors": false, "Sec-Fetch-Mode: websocket": false,
		"Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe": false, "Sec-Fetch-Dest: image": false, "Origin: https://evil.example": false, "Upgrade: websocket": false,
	} {
		if got := local.IsNavigation(request(strings.Split(fields, "|")...)); got != want {
			t.Errorf("IsNavigation of a request with %q: %t, want %t", fields, got, want)
		}
	}
}

func TestFieldsAreAllThatIsRead(t *testing.T) {
	for _, field := range []string{
		"X-Forwarded-For: 203.0.113.9", "X-Real-Ip: 203.0.113.9", "Forwarded: for=203.0.113.9", "X-Forwarded-Host: evil.example", "Origin: null", "Sec-Fetch-Site: cross-site",
	} {
		name, _, _ := strings.Cut(field, ": ")
		if err := rules().Check(request(field)); err == nil || !slices.Contains(local.Fields(), name) {
			t.Errorf("Check of a request with %q: %v, and Fields has %q; want an error, and the name among them", field, err, local.Fields())
		}
	}
}

func TestHostsOfTheConfiguration(t *testing.T) {
	for text, want := range map[string]bool{
		"mail.example.org": true, "mailpit": true, "MAIL.example": true, "192.0.2.1": true, "2001:db8::1": true, "my_app": true, "example.org.": true,
		"": false, "mail.example.org:8025": false, "http://mail.example.org": false, "*.example.org": false, "*": false, "[2001:db8::1]": false, "a b": false, "a@b.example": false, "mäil.example": false, ".": false,
	} {
		if got := local.IsHost(text); got != want {
			t.Errorf("IsHost(%q): %t, want %t", text, got, want)
		}
	}
}

// IsAddr and Networks, which say the same in two forms, agree.
func TestNetworksAreThoseOfIsAddr(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "127.255.255.255": true, "10.0.0.0": true, "172.16.0.1": true, "172.31.255.255": true, "192.168.255.1": true, "::1": true, "fc00::1": true, "fdff::1": true,
		"128.0.0.1": false, "11.0.0.1": false, "172.15.0.1": false, "172.32.0.1": false, "192.169.0.1": false, "::2": false, "fe80::1": false, "fe00::1": false, "169.254.169.254": false, "0.0.0.0": false, "::": false,
	} {
		a := netip.MustParseAddr(text)
		inside := slices.ContainsFunc(local.Networks(), func(n netip.Prefix) bool { return n.Contains(a) })
		if got := local.IsAddr(a); got != want || inside != want {
			t.Errorf("IsAddr(%s): %t, in Networks: %t; want %t", text, got, inside, want)
		}
	}
}

// No value of Forwarded that names a public address is local, whatever stands around it.
func FuzzForwarded(f *testing.F) {
	f.Add(`for=127.0.0.1`)
	f.Add(`for="[::1]:80";by=_x;host="a,b"`)
	f.Add(`for="`)
	f.Add(`;,=,"\`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, field := range []string{text, text + ", for=203.0.113.9", "for=203.0.113.9, " + text} {
			err := rules().CheckClient(request("Forwarded: " + field))
			if err == nil && strings.HasSuffix(field, "for=203.0.113.9") && !strings.Contains(text, `"`) {
				t.Errorf("CheckClient with Forwarded: %s says that the client is local, want an error", field)
			}
			if err == nil && strings.HasPrefix(field, "for=203.0.113.9, ") {
				t.Errorf("CheckClient with Forwarded: %s says that the client is local, want an error", field)
			}
		}
	})
}

// No name below a domain in public DNS passes as a host, whatever stands in front of it, and so its origin does not either.
func FuzzHosts(f *testing.F) {
	f.Add("localhost", "127.0.0.1")
	f.Add("[::1]", "a@b")
	f.Add("a.", "x:1")
	f.Fuzz(func(t *testing.T, name, rest string) {
		for _, text := range []string{name + ".evil.example", name + ".evil.example:" + rest} {
			if err := rules().CheckHost(request("Host: " + text)); err == nil {
				t.Errorf("CheckHost of %q: nil, want an error", text)
			}
			if err := rules().CheckOrigin(request("Origin: http://" + text)); err == nil {
				t.Errorf("CheckOrigin of http://%q: nil, want an error", text)
			}
		}
	})
}
