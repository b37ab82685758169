package doctor

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/config"
)

const (
	// Free space of data_dir, in octets: below the first a warning, below the second a failure. A day's mail of a small
	// service fits into the first; the second is little more than a few large mails.
	freeWarning = 2 << 30
	freeFailure = 100 << 20

	syncs    = 15                    // how many are measured; their median counts, since a busy disk makes single ones slow
	slowSync = 20 * time.Millisecond // an SSD takes well under this, a hard disk about as long

	expiresSoon = 14 * 24 * time.Hour // certificates are usually renewed a month before their end
	clockSkew   = 30 * time.Second    // between this machine and base_url
)

// checkDataDir checks data_dir: its permissions, its free space, and how long a sync takes.
func (e *examination) checkDataDir() {
	dir := e.cfg.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.reportf("data folder", Warning, "%s does not exist; gonebox serve creates it, or data_dir names the wrong folder", dir)
		dir = existingParent(dir)
	case err != nil:
		e.reportf("data folder", Failure, "%s cannot be read (%s); run this as the user of the service", dir, oneLine(err))
		return
	case !info.IsDir():
		e.reportf("data folder", Failure, "%s is not a folder; set data_dir to one", dir)
		return
	case info.Mode().Perm()&0o022 != 0:
		e.reportf("data folder", Warning, "%s can be written by other users (%04o); run: chmod go-rwx %s", dir, info.Mode().Perm(), dir)
	default:
		e.reportf("data folder", OK, "%s has mode %04o", dir, info.Mode().Perm())
	}
	if free, ok := freeSpace(dir); ok {
		level := OK
		advice := ""
		if free < freeWarning {
			level, advice = Warning, "; mail is deferred on a full disk: use a larger disk, or shorter retention"
		}
		if free < freeFailure {
			level = Failure
		}
		e.reportf("free space", level, "%d MiB in %s%s", free>>20, dir, advice)
	}
	e.checkSyncTime(dir)
}

// existingParent returns the nearest folder above a path that exists, where the free space and the syncs are those that
// data_dir will have.
func existingParent(path string) string {
	path, _ = filepath.Abs(path)
	for path != filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

// checkSyncTime measures how long it takes to put a block on stable storage: every mail waits for that.
func (e *examination) checkSyncTime(dir string) {
	f, err := os.CreateTemp(dir, ".gonebox-doctor-*")
	if err != nil {
		e.reportf("sync time", Failure, "%s cannot be written (%s); run this as the user of the service, or change the folder's owner", dir, oneLine(err))
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 4096)
	var took []time.Duration
	for range syncs {
		begun := e.clock.Now()
		if _, err = f.Write(block); err == nil {
			err = f.Sync()
		}
		if err != nil {
			e.reportf("sync time", Failure, "a file in %s cannot be synced (%s); check the disk", dir, oneLine(err))
			return
		}
		took = append(took, e.clock.Now().Sub(begun))
	}
	slices.Sort(took)
	median := took[len(took)/2].Round(10 * time.Microsecond)
	if median > slowSync {
		e.reportf("sync time", Warning, "%v in the median; each mail waits for a sync: use an SSD for data_dir", median)
		return
	}
	e.reportf("sync time", OK, "%v in the median", median)
}

// checkClock checks whether the kernel reports that the system's clock is synchronized.
func (e *examination) checkClock() {
	synchronized, known := kernelClock()
	switch {
	case !known:
		e.reportf("clock", OK, "whether it is synchronized is not known on this system")
	case !synchronized:
		e.reportf("clock", Warning, "it is not synchronized, so that tokens and codes may end too early or late; install chrony or enable systemd-timesyncd")
	default:
		e.reportf("clock", OK, "it is synchronized")
	}
}

// checkPort checks whether a service listens on an address. If none does, it checks whether the address can be bound, by
// binding it for a moment. key is the configuration key of the address.
func (e *examination) checkPort(ctx context.Context, key, addr string) {
	dialer := net.Dialer{Timeout: lookupTimeout}
	if conn, err := dialer.DialContext(ctx, "tcp", config.DialAddr(addr)); err == nil {
		_ = conn.Close()
		e.reportf("port", OK, "%s %s is bound and answers", key, addr)
		return
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		e.reportf("port", Failure, "%s %s cannot be bound (%s); a port below 1024 needs AmbientCapabilities=CAP_NET_BIND_SERVICE, or choose another", key, addr, oneLine(err))
		return
	}
	_ = l.Close()
	e.reportf("port", Warning, "%s %s is free: no service runs; start it with gonebox serve", key, addr)
}

// checkPort25 checks whether port 25 of smtp.hostname greets with that name. It connects from this machine, so a
// firewall between the internet and this machine may still be closed.
func (e *examination) checkPort25(ctx context.Context) {
	host := e.cfg.SMTP.Hostname
	if isLocal(host) {
		e.reportf("port 25", Warning, "not checked, since smtp.hostname %s is a name of this machine", host)
		return
	}
	dialer := net.Dialer{Timeout: lookupTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, "25"))
	line := ""
	if err == nil {
		defer conn.Close()
		_ = conn.SetDeadline(e.clock.Now().Add(lookupTimeout))
		line, err = bufio.NewReader(conn).ReadString('\n')
	}
	switch {
	case err != nil:
		e.reportf("port 25", Warning, "%s is not reachable from here (%s); forward port 25 to smtp.addr, open the firewall, and ask the hosting company whether it blocks the port", host, oneLine(err))
	case !strings.Contains(line, host):
		e.reportf("port 25", Warning, "another server answers on %s: %s", host, strings.TrimSpace(line))
	default:
		e.reportf("port 25", OK, "%s greets on port 25", host)
	}
}

// checkTLS checks the certificates of HTTPS and of STARTTLS, which uses those of HTTPS if it has none of its own.
func (e *examination) checkTLS() {
	smtp, web := e.cfg.SMTP.TLS, e.cfg.HTTP.TLS
	if web.Cert != "" {
		e.checkPair("http.tls", web.Cert, web.Key, e.cfg.WebHost())
	}
	for _, host := range web.ACME.Hosts {
		e.checkObtained(host)
	}
	host := e.cfg.SMTP.Hostname
	switch {
	case smtp.Cert != "":
		e.checkPair("smtp.tls", smtp.Cert, smtp.Key, host)
	case smtp.ACME && !slices.Contains(web.ACME.Hosts, host):
		e.checkObtained(host)
	case smtp.ACME:
	case web.Cert != "":
		e.checkPair("http.tls", web.Cert, web.Key, host)
	case len(web.ACME.Hosts) > 0 && !slices.Contains(web.ACME.Hosts, host):
		e.reportf("certificate", Warning, "there is none for smtp.hostname %s, so that mail servers get that of %s; add it to http.tls.acme.hosts", host, web.ACME.Hosts[0])
	case len(web.ACME.Hosts) == 0:
		e.reportf("certificate", Warning, "there is none, so mail arrives without encryption; set smtp.tls.acme: true, or smtp.tls.cert and smtp.tls.key")
	}
}

// checkPair checks the files that the keys cert and key of a section name, for a host.
func (e *examination) checkPair(section, cert, key, host string) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		e.reportf("certificate", Failure, "%[1]s.cert and %[1]s.key cannot be read (%[2]s); check the paths, and that the user of the service may read them", section, oneLine(err))
		return
	}
	e.checkCertificate(pair.Leaf, host)
}

// checkObtained checks the certificate that was obtained for a host by ACME.
func (e *examination) checkObtained(host string) {
	text, err := os.ReadFile(filepath.Join(e.cfg.DataDir, "acme", host))
	if err != nil {
		where := "port 80 must reach http.addr"
		if e.cfg.HTTP.IsTLS() {
			where = "port 443 must reach http.addr, or port 80 http.redirect_addr"
		}
		e.reportf("certificate", Warning, "none was obtained for %s by ACME yet; its %s", host, where)
		return
	}
	e.checkCertificate(firstCertificate(text), host)
}

// firstCertificate returns the first certificate of a PEM file, nil if it has none.
func firstCertificate(text []byte) *x509.Certificate {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			c, _ := x509.ParseCertificate(block.Bytes) // nil if it is malformed
			return c
		}
	}
	return nil
}

// checkCertificate reports whether a certificate has ended or is about to, and whether it is for a host. Senders of mail seldom
// verify it, so these are warnings.
func (e *examination) checkCertificate(c *x509.Certificate, host string) {
	if c == nil {
		e.reportf("certificate", Failure, "the file has no certificate; obtain it again")
		return
	}
	left, end := c.NotAfter.Sub(e.clock.Now()), c.NotAfter.UTC().Format(time.DateOnly)
	switch {
	case left <= 0:
		e.reportf("certificate", Warning, "that for %s ended on %s; renew it", host, end)
	case left < expiresSoon:
		e.reportf("certificate", Warning, "that for %s ends on %s; renew it", host, end)
	case c.VerifyHostname(host) != nil:
		e.reportf("certificate", Warning, "there is none for %s, but one for other names; obtain one for that name", host)
	default:
		e.reportf("certificate", OK, "that for %s ends on %s", host, end)
	}
}

// checkBaseURL checks whether the service answers at base_url, and compares the clocks.
func (e *examination) checkBaseURL(ctx context.Context) {
	_, port, _ := net.SplitHostPort(e.cfg.HTTP.Addr)
	url := e.cfg.URL(port)
	if e.cfg.BaseURL == config.Default().BaseURL && len(e.cfg.HTTP.TLS.ACME.Hosts) == 0 {
		e.reportf("base_url", Warning, "it is not set; set it to the https URL at which clients reach this service")
		return
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/healthz", nil)
	if err != nil {
		e.reportf("base_url", Failure, "%s is not a URL", url)
		return
	}
	response, err := (&http.Client{Timeout: lookupTimeout}).Do(request)
	if err != nil {
		e.reportf("base_url", Warning, "%s does not answer (%s); check DNS, the certificate, and the reverse proxy if there is one", url, oneLine(err))
		return
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		e.reportf("base_url", Warning, "%s/api/v1/healthz answers %s; check that the reverse proxy forwards to http.addr", url, response.Status)
		return
	}
	e.reportf("base_url", OK, "%s answers", url)
	if at, err := http.ParseTime(response.Header.Get("Date")); err == nil && e.clock.Now().Sub(at).Abs() > clockSkew {
		e.reportf("clock", Warning, "it differs from that of %s by %v; synchronize both", url, e.clock.Now().Sub(at).Abs().Round(time.Second))
	}
}

// oneLine returns the text of an error without line breaks, or "no record" for nil, with which a lookup found nothing.
func oneLine(err error) string {
	if err == nil {
		return "no record"
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// isNotFound reports whether DNS has answered that there is no such name or record.
func isNotFound(err error) bool {
	dns, ok := errors.AsType[*net.DNSError](err)
	return ok && dns.IsNotFound
}
