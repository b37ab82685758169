package clients_test

import (
	"errors"
	"fmt"
	"net/smtp"
	"os"
	"path/filepath"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// projectKey is a developer key that the tests configure; it opens nothing elsewhere.
const projectKey = "x_ar71pbq8b0_YYr1twATtvBfi5SsMDZrMRZ3N5tlgx7lxpU1gKChkju4YHnhf"

// Each client keeps the mail of projects apart, with a key and with none.
func TestClientsKeepProjectsApart(t *testing.T) {
	web, server := serveProjects(t)
	inEachLanguage(t, "projects", func(t *testing.T, language string, run func(environ ...string) string) {
		for key, name := range map[string]string{projectKey: "key", "": "none"} {
			name += "-" + language
			sendAs(t, server, name+"-one", "shared@shop.example", "111222")
			sendAs(t, server, name+"-two", "shared@shop.example", "333444")
			sendAs(t, server, name+"-two", "other@shop.example", "555666")
			got := run("URL=http://"+web, "KEY="+key, "NAME="+name)
			if want := "111222 333444 555666 0 true true auth.invalid_token\n"; got != want {
				t.Errorf("%s with the key %q: %q, want %q", language, key, got, want)
			}
		}
	})
}

// serveProjects starts a service of the profile dev, whose account projectKey is of.
func serveProjects(t *testing.T) (web, server string) {
	t.Helper()
	return apptest.Serve(t, apptest.Program(t), "profile=dev", "dev.key="+projectKey, "compat.mailpit.addr=", "smtp.tls.addr=", "smtp.tls.self_signed=false")
}

// inEachLanguage calls test with what runs the program of a folder of testdata in each language and returns what it printed.
func inEachLanguage(t *testing.T, folder string, test func(t *testing.T, language string, run func(environ ...string) string)) {
	for language, prepare := range map[string]func(*testing.T) (dir string, program []string){
		"typescript": func(t *testing.T) (string, []string) { return packedTypeScript(t), []string{"node", folder + ".mjs"} },
		"python": func(t *testing.T) (string, []string) {
			need(t, python)
			return t.TempDir(), []string{"env", "PYTHONPATH=" + filepath.Join(sources(t, "python"), "src"), python, folder + ".py"}
		},
		"go": func(t *testing.T) (string, []string) {
			dir := t.TempDir()
			const module = "github.com/gonebox/gonebox/clients/go"
			write(t, filepath.Join(dir, "go.mod"), fmt.Sprintf("module %s\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => %s\n", folder, module, module, sources(t, "go")))
			return dir, []string{"go", "run", "."}
		},
	} {
		t.Run(language, func(t *testing.T) {
			dir, program := prepare(t)
			all, err := filepath.Glob("testdata/" + folder + "/*")
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range all {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if filepath.Ext(file) != ".go" || language == "go" {
					write(t, filepath.Join(dir, filepath.Base(file)), string(text))
				}
			}
			test(t, language, func(environ ...string) string {
				t.Helper()
				return command(t, dir, append(environ, "GOFLAGS=-mod=mod -trimpath", "GOWORK=off"), program[0], program[1:]...)
			})
		})
	}
}

// sendAs sends a mail with a code in a session that is signed in to a project.
func sendAs(t *testing.T, server, project, to, code string) {
	t.Helper()
	if err := trySendAs(server, project, to, code); err != nil {
		t.Fatalf("send a mail to %s as %s: %v", to, project, err)
	}
}

// trySendAs is sendAs that may be refused.
func trySendAs(server, project, to, code string) error {
	mail := fmt.Sprintf("From: shop@shop.example\r\nTo: %s\r\nSubject: Welcome\r\n\r\nYour code is %s.\r\n", to, code)
	auth := smtp.PlainAuth("", project, "any", "127.0.0.1")
	c, err := smtp.Dial(server)
	if err != nil {
		return err
	}
	defer c.Close()
	send := func() error {
		if err := errors.Join(c.Hello("client.example"), c.Auth(auth), c.Mail("shop@shop.example"), c.Rcpt(to)); err != nil {
			return err
		}
		w, err := c.Data()
		if err != nil {
			return err
		}
		_, err = w.Write([]byte(mail))
		return errors.Join(err, w.Close())
	}
	return errors.Join(send(), c.Quit()) // with the reply to QUIT the session is over, and its transcript is there
}
