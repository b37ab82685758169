package agents_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// inspector is a folder of the protocol's official inspector, which is a client that shares no code with ours. make test installs it.
const inspector = "node_modules/@modelcontextprotocol/inspector-cli/build"

// inspect runs the inspector against a target, and decodes what it prints.
func inspect(t *testing.T, into any, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), apptest.LookPath(t, "node"), append([]string{"index.js"}, args...)...)
	cmd.Dir = inspector
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the inspector with %v: %v\n%s", args, err, out)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("decode what the inspector with %v prints: %v\n%s", args, err, out)
	}
}

func TestInspectorListsAndCallsTools(t *testing.T) {
	if _, err := os.Stat(filepath.Join(inspector, "index.js")); err != nil {
		t.Skip("the inspector is not installed: make test installs it")
	}
	w := start(t)
	for name, target := range map[string][]string{"HTTP": {w.base + "/mcp"}, "stdio": {w.binary, "mcp", "--url", w.base}} {
		t.Run(name, func(t *testing.T) {
			var list struct {
				Tools []struct{ Name, Title string }
			}
			inspect(t, &list, append(target, "--method", "tools/list")...)
			if len(list.Tools) != len(toolNames) {
				t.Errorf("the inspector lists %+v, want %d tools", list, len(toolNames))
			}
			call := func(tool string, args ...string) (data object) {
				t.Helper()
				var result struct {
					StructuredContent object
					IsError           bool
				}
				arguments := append(target, "--method", "tools/call", "--tool-name", tool)
				for _, a := range args {
					arguments = append(arguments, "--tool-arg", a)
				}
				inspect(t, &result, arguments...)
				if result.IsError {
					t.Fatalf("%s: the inspector prints %+v, want no error", tool, result)
				}
				return result.StructuredContent
			}
			box := call("create_mailbox", "ttlSeconds=600")
			if name == "stdio" {
				return // the process ends with each call, and with it the token
			}
			named := []string{"mailbox=" + box["mailbox"].(string), "token=" + box["token"].(string)}
			call("send_test_message", append(named, "code=code-482913")...)
			call("send_test_message", append(named, "subject=second")...)
			if got := call("wait_for_code", append(named, "seconds=55")...); got["code"] != "246810" {
				t.Errorf(`call("wait_for_code", append(named, "seconds=55")...) = %v, want code "246810"`, got)
			}
			id := call("wait_for_message", named...)["messageId"].(string)
			call("read_message", append(named, "messageId="+id, "maxChars=100")...)
			call("list_messages", named...)
			call("expect_no_message", append(named, "after="+id, "seconds=1")...)
			call("extend_mailbox", append(named, "ttlSeconds=900")...)
			call("delete_mailbox", named...)
		})
	}
}
