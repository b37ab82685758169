package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/config"
)

// single reads a compose file of one service and returns that with its configuration.
func single(t *testing.T, file string) (composition, *config.Config) {
	t.Helper()
	var c composition
	if err := yaml.Unmarshal([]byte(read(t, folder+file)), &c); err != nil {
		t.Fatal(err)
	}
	s, ok := c.Services["gonebox"]
	if !ok || len(c.Services) != 1 || s.Build == nil {
		t.Fatalf("%s has the services %v, want one, which is built", file, c.Services)
	}
	if _, err := os.Stat(filepath.Join(folder, s.Build.Context, s.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	var environ []string
	for key, value := range s.Environment {
		environ = append(environ, key+"="+value)
	}
	set := map[string]string{"data_dir": "/data"} // the image sets it
	if len(s.Command) == 0 || s.Command[0] != "serve" {
		t.Fatalf("%s runs %v, want serve", file, s.Command)
	}
	if slices.Contains(s.Command, "--dev") {
		set["profile"] = config.ProfileDev
	}
	cfg, err := config.Load("", environ, set)
	if err != nil {
		t.Fatalf(`%s: config.Load("", environ, set): %v`, file, err)
	}
	if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || s.Healthcheck == nil || s.Healthcheck.Test[2] != "ready" || s.Ulimits["nofile"] < 65536 {
		t.Errorf("%s: read-only %t, without %v, checked by %v, want it read-only, without ALL, checked by gonebox ready, and at least 65536 files", file, s.ReadOnly, s.CapDrop, s.Healthcheck)
	}
	if len(s.Volumes) != 1 || !strings.HasSuffix(s.Volumes[0], ":/data") || len(c.Volumes) != 1 {
		t.Errorf("%s: the volumes are %v, want one at /data", file, s.Volumes)
	}
	return c, cfg
}

func TestSmallComposeIsOneProcessWithSQLite(t *testing.T) {
	c, cfg := single(t, "compose.small.yaml")
	if cfg.Database.URL != "" || cfg.IsDev() || len(cfg.Roles) != 3 {
		t.Errorf("database %q, profile %s, roles %v; want SQLite, not dev, and all 3 roles", cfg.Database.URL, cfg.Profile, cfg.Roles)
	}
	want := []string{"8080" + cfg.HTTP.Addr, "25" + cfg.SMTP.Addr}
	if got := c.Services["gonebox"].Ports; !slices.Equal(got, want) {
		t.Errorf("ports %v, want %v", got, want)
	}
}

// What profile: dev opens is published on the machine's own loopback address alone.
func TestDevComposeIsForThisMachine(t *testing.T) {
	c, cfg := single(t, "compose.dev.yaml")
	if !cfg.IsDev() {
		t.Fatalf("the profile is %s, want dev", cfg.Profile)
	}
	var want []string
	for _, addr := range []string{cfg.HTTP.Addr, cfg.SMTP.Addr, cfg.Compat.Mailpit.Addr} {
		want = append(want, "127.0.0.1"+addr+addr)
	}
	if got := c.Services["gonebox"].Ports; !slices.Equal(got, want) || !slices.Equal(got, []string{"127.0.0.1:8080:8080", "127.0.0.1:1025:1025", "127.0.0.1:8025:8025"}) {
		t.Errorf("ports %v, want %v", got, want)
	}
}

// TestWorkflowWaitsForCode runs the steps of the example of a workflow.
func TestWorkflowWaitsForCode(t *testing.T) {
	var w struct {
		Jobs map[string]struct {
			Services map[string]struct {
				Env   map[string]string
				Ports []string
			}
			Env   map[string]string
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, root+"/examples/github-workflow.yaml")), &w); err != nil {
		t.Fatal(err)
	}
	job := w.Jobs["test"]
	if job.Services["gonebox"].Env["GONEBOX_PROFILE"] != config.ProfileDev || len(job.Steps) != 3 {
		t.Fatalf("the job test is %+v, want a service of the profile %s and three steps", job, config.ProfileDev)
	}
	s := apptest.Start(t, apptest.Options{RealClock: true, Set: map[string]string{"profile": "dev", "compat.mailpit.addr": "127.0.0.1:0", "account.password.memory": "8KiB"}})
	dir := t.TempDir()
	variables := filepath.Join(dir, "env")
	for _, step := range job.Steps {
		told, err := os.ReadFile(variables)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GITHUB_ENV="+variables, "GONEBOX_URL="+strings.TrimSuffix(s.URL, "/api/v1"), "SMTP_URL=smtp://"+s.SMTP)
		cmd.Env = append(cmd.Env, strings.Fields(string(told))...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("the step %s: %v\n%s", step.Name, err, out)
		}
	}
}
