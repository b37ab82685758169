package doctor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/doctor"
)

// serveDNS answers with records by "name type"; other names do not exist.
func serveDNS(t *testing.T, records map[string]string) (addr string) {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan struct{})
	server := &dns.Server{PacketConn: socket, NotifyStartedFunc: func() { close(started) }, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		if record, ok := records[strings.ToLower(q.Question[0].Name)+" "+dns.TypeToString[q.Question[0].Qtype]]; ok {
			rr, err := dns.NewRR(q.Question[0].Name + " 60 IN " + dns.TypeToString[q.Question[0].Qtype] + " " + record)
			if err != nil {
				t.Error(err)
			}
			m.Answer = append(m.Answer, rr)
		} else {
			m.Rcode = dns.RcodeNameError
		}
		_ = w.WriteMsg(m)
	})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.ActivateAndServe()
	}()
	<-started
	t.Cleanup(func() {
		_ = server.Shutdown()
		<-ended
	})
	return socket.LocalAddr().String()
}

// examine returns the findings for settings, by check; those of one check are joined.
func examine(t *testing.T, settings map[string]string) map[string]string {
	t.Helper()
	all := map[string]string{"smtp.addr": "127.0.0.1:0", "http.addr": "127.0.0.1:0", "data_dir": filepath.Join(t.TempDir(), "data"), "dns.timeout": "1s"}
	maps.Copy(all, settings)
	cfg, err := config.Load("", nil, all)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	doctor.Examine(t.Context(), cfg, func(f doctor.Finding) {
		if strings.Contains(f.Text, "\n") || f.Text == "" {
			t.Errorf("%s: the finding is %q, want one line", f.Check, f.Text)
		}
		found[f.Check] += string(f.Level) + " " + f.Text + "|"
	})
	return found
}

func wantFinding(t *testing.T, found map[string]string, check, level string, texts ...string) {
	t.Helper()
	got := found[check]
	if !strings.HasPrefix(got, level+" ") {
		t.Errorf("%s is %q, want %s", check, got, level)
	}
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("%s is %q, without %q, want %v in it", check, got, text, text)
		}
	}
}

func TestEveryCheckIsReported(t *testing.T) {
	found := examine(t, map[string]string{"dns.resolver": serveDNS(t, nil)})
	for _, check := range []string{
		"configuration", "data folder", "free space", "sync time", "clock", "resolver", "MX", "A and AAAA", "PTR", "port", "port 25",
		"certificate", "base_url", "PostgreSQL", "file descriptors", "blocklists",
	} {
		if found[check] == "" {
			t.Errorf("the check %q is not reported, want every check", check)
		}
	}
}

func TestRecordsOfDomain(t *testing.T) {
	records := map[string]string{
		"good.example. MX": "10 mx.good.example.", "elsewhere.example. MX": "10 mail.other.example.",
		"mx.good.example. A": "127.0.0.9", "9.0.0.127.in-addr.arpa. PTR": "mx.good.example.",
	}
	set := map[string]string{"dns.resolver": serveDNS(t, records), "domains": "good.example", "smtp.hostname": "mx.good.example"}
	found := examine(t, set)
	wantFinding(t, found, "resolver", "ok")
	wantFinding(t, found, "MX", "ok", "good.example points to mx.good.example")
	wantFinding(t, found, "A and AAAA", "ok", "127.0.0.9")
	wantFinding(t, found, "PTR", "ok")
	wantFinding(t, found, "port 25", "warning", "not reachable")

	changed := maps.Clone(records) // the first server may still read records
	delete(changed, "9.0.0.127.in-addr.arpa. PTR")
	set["domains"], set["dns.resolver"] = "elsewhere.example, none.example", serveDNS(t, changed)
	found = examine(t, set)
	wantFinding(t, found, "MX", "warning", "points to mail.other.example", "none.example has none", "add the record: none.example. MX 10 mx.good.example.")
	wantFinding(t, found, "PTR", "warning", "set it to mx.good.example")
}

func TestBlocklists(t *testing.T) {
	records := map[string]string{
		"2.0.0.127.good.test. A": "127.0.0.2", "2.0.0.127.refusing.test. A": "127.255.255.254", "2.0.0.127.sold.test. A": "203.0.113.80",
		"2.0.0.127.every.test. A": "127.0.0.2", "1.0.0.127.every.test. A": "127.0.0.2",
	}
	set := map[string]string{"dns.resolver": serveDNS(t, records)}
	wantFinding(t, examine(t, set), "blocklists", "ok", "none is configured")
	set["smtp.dnsbl"] = "good.test"
	wantFinding(t, examine(t, set), "blocklists", "ok", "good.test answers")
	for zone, text := range map[string]string{
		"refusing.test": "127.255.255.254", "sold.test": "for sale", "every.test": "every address", "absent.test": "test entry",
	} {
		set["smtp.dnsbl"] = zone
		wantFinding(t, examine(t, set), "blocklists", "warning", zone, text, "; ")
	}
}

func TestSilentResolverAndDatabaseAreFailures(t *testing.T) {
	closed, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	found := examine(t, map[string]string{
		"dns.resolver": closed.LocalAddr().String(), "database.url": "postgres://x@127.0.0.1:1/x", "secrets.key": strings.Repeat("0f", 32),
	})
	wantFinding(t, found, "resolver", "failure", "dns.resolver")
	wantFinding(t, found, "MX", "warning", "not checked")
	wantFinding(t, found, "PostgreSQL", "failure", "database.url")
}

func TestPortInUseByAnotherProgram(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	found := examine(t, map[string]string{"dns.resolver": serveDNS(t, nil), "smtp.addr": l.Addr().String(), "http.addr": "192.0.2.1:8080"})
	wantFinding(t, found, "port", "ok", "smtp.addr", "failure http.addr 192.0.2.1:8080 cannot be bound")
}

func TestDataFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil { // what is to be found
		t.Fatal(err)
	}
	set := map[string]string{"dns.resolver": serveDNS(t, nil), "data_dir": dir}
	wantFinding(t, examine(t, set), "data folder", "warning", "chmod")
	if err := os.Chmod(dir, 0o700); err != nil { // a folder
		t.Fatal(err)
	}
	found := examine(t, set)
	wantFinding(t, found, "data folder", "ok")
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("the doctor left %v in the folder, want nothing", left)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	set["data_dir"] = file
	wantFinding(t, examine(t, set), "data folder", "failure", "not a folder")
}

func TestCertificate(t *testing.T) {
	dir, now := t.TempDir(), clock.System().Now()
	resolver := serveDNS(t, nil)
	for name, c := range map[string]struct {
		left        time.Duration
		host, level string
	}{
		"good":  {90 * 24 * time.Hour, "mx.good.example", "ok"},
		"soon":  {24 * time.Hour, "mx.good.example", "warning"},
		"ended": {-time.Hour, "mx.good.example", "warning"},
		"other": {90 * 24 * time.Hour, "mx.other.example", "warning"},
	} {
		cert, key := filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
		writeCertificate(t, cert, key, c.host, now.Add(c.left))
		set := map[string]string{"dns.resolver": resolver, "smtp.hostname": "mx.good.example", "smtp.tls.cert": cert, "smtp.tls.key": key}
		wantFinding(t, examine(t, set), "certificate", c.level)
		if name == "good" {
			set["smtp.tls.cert"] = filepath.Join(dir, "missing")
			wantFinding(t, examine(t, set), "certificate", "failure", "smtp.tls.cert")
		}
	}
	wantFinding(t, examine(t, map[string]string{"dns.resolver": resolver}), "certificate", "warning", "smtp.tls.acme")
}

func TestCertificateOfHTTPS(t *testing.T) {
	dir, resolver := t.TempDir(), serveDNS(t, nil)
	cert, key := filepath.Join(dir, "crt"), filepath.Join(dir, "key")
	writeCertificate(t, cert, key, "box.example.org", clock.System().Now().Add(90*24*time.Hour))
	set := map[string]string{"dns.resolver": resolver, "smtp.hostname": "box.example.org", "base_url": "https://box.example.org", "http.tls.cert": cert, "http.tls.key": key}
	wantFinding(t, examine(t, set), "certificate", "ok", "box.example.org")
	set["smtp.hostname"] = "mx.example.org"
	wantFinding(t, examine(t, set), "certificate", "ok", "warning there is none for mx.example.org")
	set["http.tls.cert"] = filepath.Join(dir, "missing")
	wantFinding(t, examine(t, set), "certificate", "failure", "http.tls.cert")

	data := t.TempDir()
	set = map[string]string{"dns.resolver": resolver, "data_dir": data, "smtp.hostname": "mx.example.org", "http.tls.acme.hosts": "box.example.org", "http.redirect_addr": "127.0.0.1:0"}
	found := examine(t, set)
	wantFinding(t, found, "certificate", "warning", "none was obtained for box.example.org", "there is none for smtp.hostname mx.example.org")
	wantFinding(t, found, "port", "warning", "http.redirect_addr")
	if err := os.Mkdir(filepath.Join(data, "acme"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeCertificate(t, filepath.Join(data, "acme", "box.example.org"), key, "box.example.org", clock.System().Now().Add(90*24*time.Hour))
	wantFinding(t, examine(t, set), "certificate", "ok", "that for box.example.org ends on")
}

func writeCertificate(t *testing.T, certPath, keyPath, host string, end time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, NotBefore: end.Add(-1000 * time.Hour), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{certPath: {Type: "CERTIFICATE", Bytes: der}, keyPath: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestIngressesAreExamined(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("* OK ready\r\n"))
			conn.Close()
		}
	}()
	const secret = "correct horse battery staple"
	dns := serveDNS(t, map[string]string{"example.com. MX": "10 mx.example.com."})
	home := map[string]string{"ingress.home.kind": "imap", "ingress.home.url": "imap://" + l.Addr().String(), "ingress.home.user": "u", "ingress.home.password": "p"}
	for _, test := range []struct {
		more  map[string]string
		check string
		level string
		text  string
	}{
		{map[string]string{"ingress.in.kind": "raw", "ingress.in.secret": secret}, "ingress in", "warning", "no provider can reach"},
		{map[string]string{"ingress.in.kind": "raw", "ingress.in.secret": secret, "base_url": "http://box.example.org"}, "ingress in", "warning", "in clear"},
		{map[string]string{"ingress.in.kind": "raw", "ingress.in.secret": "short", "base_url": "https://box.example.org"}, "ingress in", "warning", "less than 16 characters"},
		{map[string]string{"ingress.in.kind": "raw", "ingress.in.secret": secret, "base_url": "https://box.example.org"}, "ingress in", "ok", "https://box.example.org/api/v1/ingress/in"},
		{home, "ingress home", "ok", "answers"},
		{map[string]string{"ingress.home.kind": "imap", "ingress.home.url": "imap://127.0.0.1:1", "ingress.home.user": "u", "ingress.home.password": "p"}, "ingress home", "failure", "cannot be reached"},
		// No mail comes from the internet to port 25, and that is no failure then.
		{map[string]string{"ingress.in.kind": "raw", "ingress.in.secret": secret, "smtp.hostname": "mx.elsewhere.example", "domains": "box.elsewhere.example"}, "MX", "warning", "not needed for mail that comes through an ingress"},
	} {
		settings := map[string]string{"dns.resolver": dns}
		maps.Copy(settings, test.more)
		wantFinding(t, examine(t, settings), test.check, test.level, test.text)
	}
}
