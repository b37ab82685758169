package clients_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// engine stands in for a container engine. It answers the calls of the Docker Engine API that Testcontainers makes to pull an
// image and to create, start, inspect and remove one container of it, and runs the built program with the command and the
// environment of that container. Programs find it by DOCKER_HOST.
type engine struct {
	t      *testing.T
	binary string
	http.Handler
	address string

	mu         sync.Mutex
	pulled     []string
	container  *container
	process    *exec.Cmd
	polls      int      // calls of /readyz
	early      []string // paths that were called before /readyz had answered 200
	unexpected []string
}

// containerID identifies the container.
const containerID = "5f0c1f6d0b7a4f6f9a3e1d2c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978"

// container is the part of a request to create a container that matters here, and the state that inspecting it shows.
type container struct {
	Image        string
	Cmd, Env     []string
	ExposedPorts map[string]struct{}
	Labels       map[string]string
	HostConfig   struct{ PortBindings map[string]json.RawMessage }

	mapped                    map[string]string // container port to port of this machine
	running, stopped, removed bool
}

// startEngine starts an engine that is closed when the test ends, with the container that a program may have left.
func startEngine(t *testing.T, binary string) *engine {
	t.Helper()
	e := &engine{t: t, binary: binary}
	mux := http.NewServeMux()
	for pattern, handle := range map[string]http.HandlerFunc{
		"/_ping": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Api-Version", "1.44")
			w.Header().Set("OSType", "linux")
		},
		"GET /info":                   e.reply(`{"ServerVersion": "28.0.0", "OperatingSystem": "Stand-in", "OSType": "linux", "Architecture": "x86_64", "Labels": []}`),
		"GET /version":                e.reply(`{"Version": "28.0.0", "ApiVersion": "1.44", "MinAPIVersion": "1.24", "Os": "linux", "Arch": "amd64"}`),
		"GET /networks":               e.reply(`[{"Name": "bridge", "Id": "bridge", "Driver": "bridge"}]`),
		"GET /networks/bridge":        e.reply(`{"Name": "bridge", "Id": "bridge", "Driver": "bridge"}`),
		"GET /containers/json":        e.reply(`[]`),
		"POST /images/create":         e.pull,
		"GET /images/":                e.image,
		"POST /containers/create":     e.create,
		"GET /containers/{id}/json":   e.inspect,
		"GET /containers/{id}/logs":   func(http.ResponseWriter, *http.Request) {},
		"POST /containers/{id}/start": e.run,
		"POST /containers/{id}/stop":  e.stop,
		"DELETE /containers/{id}":     e.remove,
		"/": func(w http.ResponseWriter, r *http.Request) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.unexpected = append(e.unexpected, r.Method+" "+r.URL.String())
			http.Error(w, `{"message": "the stand-in has no such call"}`, http.StatusNotImplemented)
		},
	} {
		mux.HandleFunc(pattern, handle)
	}
	version := regexp.MustCompile(`^/v1\.[0-9]+/`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = version.ReplaceAllString(r.URL.Path, "/")
		mux.ServeHTTP(w, r)
	}))
	e.address = server.Listener.Addr().String()
	t.Cleanup(func() {
		server.Close()
		e.end()
	})
	return e
}

// environ is the environment in which Testcontainers uses the engine and nothing else: no reaper, which is a container too.
func (e *engine) environ() []string {
	return []string{"DOCKER_HOST=tcp://" + e.address, "TESTCONTAINERS_RYUK_DISABLED=true", "GONEBOX_BINARY=" + e.binary}
}

func (e *engine) reply(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}
}

func (e *engine) pull(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	name := r.FormValue("fromImage")
	if tag := r.FormValue("tag"); tag != "" {
		name += ":" + tag
	}
	e.pulled = append(e.pulled, name)
	e.reply(`{"status": "Pull complete"}`+"\n")(w, r)
}

// image answers for each image that was pulled.
func (e *engine) image(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/images/"), "/json")
	if !slices.Contains(e.pulled, name) {
		http.Error(w, `{"message": "No such image"}`, http.StatusNotFound)
		return
	}
	e.reply(`{"Id": "sha256:1", "Os": "linux", "Architecture": "amd64", "Config": {}}`)(w, r)
}

func (e *engine) create(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := new(container)
	if err := json.NewDecoder(r.Body).Decode(c); err != nil || e.container != nil {
		http.Error(w, fmt.Sprintf(`{"message": "a second container, or a body that cannot be read: %v"}`, err), http.StatusBadRequest)
		return
	}
	e.container = c
	w.WriteHeader(http.StatusCreated)
	e.reply(`{"Id": "`+containerID+`", "Warnings": []}`)(w, r)
}

// run starts the program. The ports of the container are other ports of this machine, the HTTP port through a proxy that is not
// ready at first.
func (e *engine) run(w http.ResponseWriter, _ *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	listeners := map[string]string{"8080/tcp": apptest.FreeAddress(e.t), "1025/tcp": apptest.FreeAddress(e.t), "8025/tcp": apptest.FreeAddress(e.t)}
	proxy := httptest.NewServer(e.starting(listeners["8080/tcp"]))
	e.t.Cleanup(proxy.Close)
	reached := maps.Clone(listeners)
	reached["8080/tcp"] = proxy.Listener.Addr().String()
	e.container.mapped = make(map[string]string)
	for port := range e.container.HostConfig.PortBindings {
		if _, exposed := e.container.ExposedPorts[port]; exposed && reached[port] != "" {
			_, e.container.mapped[port], _ = net.SplitHostPort(reached[port])
		}
	}
	e.process = exec.Command(e.binary, e.container.Cmd...)
	e.process.Env = append(slices.Clone(e.container.Env), "GONEBOX_DATA_DIR="+e.t.TempDir(), "GONEBOX_DNS_RESOLVER=127.0.0.1:1",
		"GONEBOX_HTTP_ADDR="+listeners["8080/tcp"], "GONEBOX_SMTP_ADDR="+listeners["1025/tcp"], "GONEBOX_COMPAT_MAILPIT_ADDR="+listeners["8025/tcp"])
	var output bytes.Buffer
	e.process.Stdout, e.process.Stderr = &output, &output
	if err := e.process.Start(); err != nil {
		http.Error(w, fmt.Sprintf(`{"message": %q}`, err), http.StatusInternalServerError)
		return
	}
	e.container.running = true
	w.WriteHeader(http.StatusNoContent)
}

// starting returns a proxy to an address, for which /readyz is not ready twice, as while a service starts.
func (e *engine) starting(address string) http.Handler {
	service := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	ready := false
	service.ModifyResponse = func(res *http.Response) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		ready = ready || res.Request.URL.Path == "/readyz" && res.StatusCode == http.StatusOK
		return nil
	}
	service.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		if r.URL.Path == "/readyz" {
			e.polls++
		} else if !ready {
			e.early = append(e.early, r.URL.Path)
		}
		late := e.polls <= 2
		e.mu.Unlock()
		if late {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		service.ServeHTTP(w, r)
	})
}

func (e *engine) inspect(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.container
	type binding struct{ HostIp, HostPort string }
	ports := make(map[string][]binding)
	for port, mapped := range c.mapped {
		ports[port] = []binding{{"0.0.0.0", mapped}}
	}
	status := map[bool]string{true: "running", false: "exited"}[c.running]
	body, err := json.Marshal(map[string]any{
		"Id": containerID, "Name": "/only", "Created": "2026-01-02T03:04:05Z", "Image": "sha256:1",
		"State":           map[string]any{"Status": status, "Running": c.running, "StartedAt": "2026-01-02T03:04:05Z", "FinishedAt": "0001-01-01T00:00:00Z"},
		"Config":          map[string]any{"Hostname": "only", "Image": c.Image, "Env": c.Env, "Cmd": c.Cmd, "Labels": c.Labels},
		"HostConfig":      map[string]any{"PortBindings": c.HostConfig.PortBindings, "NetworkMode": "bridge"},
		"NetworkSettings": map[string]any{"Ports": ports, "Networks": map[string]any{"bridge": map[string]any{"NetworkID": "bridge", "IPAddress": "172.17.0.2"}}},
	})
	if err != nil {
		e.t.Errorf("encode the container: %v", err)
	}
	e.reply(string(body))(w, r)
}

func (e *engine) stop(w http.ResponseWriter, _ *http.Request) {
	e.end()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.container.stopped = true
	w.WriteHeader(http.StatusNoContent)
}

func (e *engine) remove(w http.ResponseWriter, _ *http.Request) {
	e.end()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.container.removed = true
	w.WriteHeader(http.StatusNoContent)
}

// end ends the program if it runs.
func (e *engine) end() {
	e.mu.Lock()
	process := e.process
	e.process = nil
	if e.container != nil {
		e.container.running = false
	}
	e.mu.Unlock()
	if process == nil {
		return
	}
	if err := process.Process.Signal(syscall.SIGTERM); err != nil && err != os.ErrProcessDone {
		e.t.Errorf("end %v: %v, want it ended or gone", process.Args, err)
	}
	_ = process.Wait() // how it ended is not what the tests are about
}
