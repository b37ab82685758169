package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// gonebox is the service under test.
type gonebox struct {
	*process
	smtp, web string
	log       *os.File
}

// mailbox is what creating one answers.
type mailbox struct {
	Address, Token string

	last string // id of the newest message that was verified
}

// settings raise every limit that would measure the limit, let it post to this machine, and change nothing else.
func (b *bench) settings(dir string) map[string]string {
	set := map[string]string{
		"data_dir": dir, "dns.resolver": b.names.addr,
		"limits.smtp_messages": "1000000/1s", "limits.smtp_connections": "100000", "limits.mailbox_create": "1000000/1s",
		"limits.reads": "1000000/1s", "limits.http_connections": "100000", "limits.other": "1000000/1s", "limits.long_polls": "100000",
		"limits.register":      "1000000/1s",
		"mailbox.max_messages": "100000000", "plans.guest.mail.daily.max": "100000000",
	}
	maps.Copy(set, hookSettings())
	return set
}

// unknownKey finds the setting that an earlier version refused, since it had nothing that the setting would limit.
var unknownKey = regexp.MustCompile(`command line: (\S+): unknown key`)

// startGonebox starts the service on a data folder, with some settings of its own, and waits until it is ready. A setting that the program
// does not know is left out.
func (b *bench) startGonebox(ctx context.Context, dir string, own map[string]string) (*gonebox, error) {
	set := b.settings(dir)
	maps.Copy(set, own)
	for {
		g, err := b.awaitGonebox(ctx, dir, set)
		if err == nil {
			return g, nil
		}
		key := unknownKey.FindStringSubmatch(err.Error())
		if key == nil || set[key[1]] == "" {
			return nil, err
		}
		b.report.note("%s does not know %s", filepath.Base(b.binary), key[1])
		delete(set, key[1])
	}
}

func (b *bench) awaitGonebox(ctx context.Context, dir string, set map[string]string) (*gonebox, error) {
	g, err := b.execGonebox(ctx, dir, set)
	if err != nil {
		return nil, err
	}
	for begun := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		if g.answers(ctx, "/readyz") {
			return g, nil
		}
		if err := g.alive(); err != nil {
			return nil, fmt.Errorf("%w; see its log:\n%s", err, g.logged())
		}
		if time.Since(begun) > time.Minute {
			g.stop()
			return nil, fmt.Errorf("gonebox was not ready within a minute:\n%s", g.logged())
		}
	}
}

// execGonebox starts the service and does not wait.
func (b *bench) execGonebox(ctx context.Context, dir string, set map[string]string) (*gonebox, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	g := &gonebox{web: ports[0], smtp: ports[1]}
	args := []string{"serve", "--set", "http.addr=" + g.web, "--set", "smtp.addr=" + g.smtp}
	for key, value := range set {
		args = append(args, "--set", key+"="+value)
	}
	if g.log, err = os.Create(filepath.Join(b.scratch, filepath.Base(dir)+".log")); err != nil {
		return nil, err
	}
	cmd := exec.Command(b.binary, args...)
	cmd.Stdout, cmd.Stderr = g.log, g.log
	g.process, err = start(ctx, cmd)
	return g, err
}

// freePorts finds loopback addresses on which no process listens.
func freePorts(n int) ([]string, error) {
	var addrs []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // after all are found, so that all differ
		addrs = append(addrs, l.Addr().String())
	}
	return addrs, nil
}

// answers reports whether a path answers 200.
func (g *gonebox) answers(ctx context.Context, path string) bool { return answers(ctx, g.web, path) }

// answers reports whether a path of the server at addr answers 200.
func answers(ctx context.Context, addr, path string) bool {
	c, err := dial(ctx, addr)
	if err != nil {
		return false
	}
	defer c.conn.Close()
	status, err := c.do(request("GET", path, "", ""))
	return err == nil && status == 200
}

// logged is the end of the service's log.
func (g *gonebox) logged() string {
	text, err := os.ReadFile(g.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

func (g *gonebox) stop() {
	g.process.stop()
	_ = g.log.Close() // nothing is read from it any more
}

// newBoxes creates n mailboxes, numbered from first.
func (g *gonebox) newBoxes(ctx context.Context, first, n int) ([]mailbox, error) {
	boxes := make([]mailbox, n)
	err := together(ctx, 32, g.web, func(c *caller, worker, workers int) error {
		for i := worker; i < n; i += workers {
			answer := struct{ Data *mailbox }{&boxes[i]}
			params, err := json.Marshal(map[string]any{"localPart": boxName(first + i), "ttl": 86400})
			if err != nil {
				return err
			}
			if err := c.call(201, "POST", "/mailboxes", "", string(params), &answer); err != nil {
				return err
			}
			if len(boxes[i].Address) != len(addressMark) {
				return fmt.Errorf("address %s has another length than %s", boxes[i].Address, addressMark)
			}
		}
		return nil
	})
	return boxes, err
}
