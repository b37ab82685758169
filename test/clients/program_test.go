package clients_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// The commands of the program wait through a restart of the service as the clients do.
func TestInboxOutlivesRestart(t *testing.T) {
	t.Parallel()
	binary := apptest.Program(t)
	for wait, want := range map[string]string{"code": "\n246810\n", "wait": "\nLink:        https://shop.example/verify\n"} {
		t.Run(wait, func(t *testing.T) {
			t.Parallel()
			environ := []string{"XDG_CONFIG_HOME=" + t.TempDir(), strings.Replace(startFaulty(t).environ(), "FAULTY_URL", "GONEBOX_URL", 1), "GONEBOX_KEY="}
			out := command(t, t.TempDir(), environ, binary, "inbox", "new") + command(t, t.TempDir(), environ, binary, "inbox", wait, "--timeout", "1m")
			if !strings.Contains(out, want) {
				t.Errorf("gonebox inbox new and gonebox inbox %s during a restart print %q, want %q in it", wait, out, want)
			}
		})
	}
}

func TestAgentToolsOutliveRestart(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(apptest.Program(t), "mcp", "--url", strings.TrimPrefix(startFaulty(t).environ(), "FAULTY_URL="))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %v: %v", cmd.Args, err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v ended: %v", cmd.Args, err)
		}
	})
	lines := bufio.NewReader(out)
	for _, c := range []struct{ method, params, want string }{
		{"initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`, `"serverInfo"`},
		{"tools/call", `{"name":"create_mailbox","arguments":{}}`, "restarted@faulty.example"},
		{"tools/call", `{"name":"wait_for_link","arguments":{"mailbox":"restarted@faulty.example","seconds":55}}`, `"url":"https://shop.example/verify"`},
	} {
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", c.method, c.params); err != nil {
			t.Fatalf("send %s %s: %v", c.method, c.params, err)
		}
		answer, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the answer to %s %s: %v", c.method, c.params, err)
		}
		if !strings.Contains(answer, c.want) {
			t.Errorf("%s %s during a restart of the service: %s, want %s in it", c.method, c.params, answer, c.want)
		}
		if c.method == "initialize" {
			if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
				t.Fatalf("send notifications/initialized: %v", err)
			}
		}
	}
}
